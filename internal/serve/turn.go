package serve

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// cancelledMark is what the dialect appends to a cancelled turn's text.
const cancelledMark = "\n\n[turn cancelled via client]"

// promptResult answers session/prompt.
type promptResult struct {
	StopReason session.StopReason `json:"stopReason"`
	SessionID  string             `json:"sessionId"`
	Content    string             `json:"content"`
	Usage      raw                `json:"usage,omitzero"`
}

// prompt starts a turn, or queues one. Its answer is written by the view's
// pump when that meets the turn's end.
func (c *conn) prompt(ctx context.Context, req *acp.Request, p *params) {
	if p.Prompt.Kind() == '"' {
		c.dialect.Store(true)
	}
	v, blocks, err := c.readPrompt(p)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	provenance, err := p.provenance()
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	v.prompt(ctx, req, session.PromptRequest{
		Content: blocks, Key: p.idempotencyKey(), Provenance: provenance, Exclusive: c.dialect.Load(),
	})
}

// readPrompt finds the session a prompt is for and checks its content.
func (c *conn) readPrompt(p *params) (*view, []raw, error) {
	v, ok := c.local(p.session())
	if !ok {
		return nil, nil, session.ErrNotActive
	}
	a := accepts{lenient: c.dialect.Load()}
	if agent, err := c.server.opts.Agents.Rebind(v.att().Info().Agent); err == nil {
		a.image, a.audio = agent.Image, agent.Audio
	}
	blocks, err := readPrompt(p.Prompt, a)
	return v, blocks, err
}

// steer answers _session/steering.
func (c *conn) steer(ctx context.Context, req *acp.Request, p *params) {
	v, blocks, err := c.readPrompt(p)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	outcome, err := c.steerOrAsk(ctx, v, blocks, p)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	c.reply(req, struct {
		Outcome string `json:"outcome"`
	}{outcome})
}

// steerOrAsk steers; a client that said promptRequired wants no turn started
// behind its back.
func (c *conn) steerOrAsk(ctx context.Context, v *view, blocks []raw, p *params) (string, error) {
	if string(lookup(p.Meta, "steering", "idleBehavior")) == `"promptRequired"` {
		s, err := c.hub().Status(ctx, v.id)
		if err != nil || !s.Running {
			return "promptRequired", err
		}
	}
	outcome, _, err := v.att().Steer(ctx, blocks)
	return string(outcome), err
}

func (c *conn) cancelRequest(_ context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	c.cancel(p.session())
	c.reply(req, empty{})
}

// cancel cancels the turn and the queue; idle or unknown sessions: nothing.
func (c *conn) cancel(id string) {
	if v, ok := c.local(id); ok {
		if err := v.att().Cancel(c.context()); err != nil {
			c.server.opts.Logger.Warn("cancel failed", "session", id, "err", err)
		}
	}
}

// set answers set_mode, set_model and set_config_option.
func (c *conn) set(ctx context.Context, req *acp.Request, p *params) {
	v, ok := c.local(p.session())
	if !ok {
		c.fail(req, c.notFound(p.session()))
		return
	}
	option, value, err := p.setting(req.Method)
	if err != nil {
		c.fail(req, err)
		return
	}
	setup, err := v.att().Set(ctx, option, value)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	if req.Method != "session/set_config_option" {
		c.reply(req, empty{})
		return
	}
	options := setup.ConfigOptions
	if options == nil {
		options = raw("[]")
	}
	c.reply(req, struct {
		ConfigOptions raw `json:"configOptions"`
	}{options})
}

func (p *params) setting(method string) (option, value string, err error) {
	switch method {
	case "session/set_mode":
		return "mode", p.ModeID, nil
	case "session/set_model":
		return "model", p.ModelID, nil
	}
	switch p.Value.Kind() {
	case '"':
		err = json.Unmarshal(p.Value, &value)
		return p.ConfigID, value, err
	case 't', 'f':
		if p.Type == "boolean" {
			return p.ConfigID, string(p.Value), nil
		}
	}
	return "", "", acp.Errorf(acp.CodeInvalidParams, "session/set_config_option: value must be a string, or a boolean with type \"boolean\"")
}

// recordRequest answers a session/update that a client sent as a request.
func (c *conn) recordRequest(_ context.Context, req *acp.Request, p *params) {
	if err := c.record(p.session(), req.Params); err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	var typ struct {
		Type   string `json:"type"`
		Update struct {
			Kind string `json:"sessionUpdate"`
		} `json:"update"`
	}
	_ = json.Unmarshal(req.Params, &typ) // it parsed as params before; a missing type stays empty
	c.reply(req, struct {
		SessionID string `json:"sessionId"`
		Type      string `json:"type"`
		Status    string `json:"status"`
	}{p.session(), firstNonEmpty(typ.Type, typ.Update.Kind), "processed"})
}

func (c *conn) record(id string, body raw) error {
	v, ok := c.local(id)
	if !ok {
		return session.ErrNotFound
	}
	return v.att().Record(c.context(), body)
}

func unmarshalParams(v raw, into any) error {
	if isNull(v) {
		return nil
	}
	if err := json.Unmarshal(v, into); err != nil {
		return badParams(err)
	}
	return nil
}
