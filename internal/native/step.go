package native

import (
	"context"
	"errors"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// stepOptions vary one model step.
type stepOptions struct {
	noTools bool
	ask     string // a last user message that is not kept
}

// step is one request to the model: streamed to the people, kept in the
// conversation, counted. What arrived before a failure or a cancel is kept too.
func (t *turn) step(ctx context.Context, o stepOptions) (*model.Response, error) {
	resp, err := t.stream(ctx, o)
	if model.KindOf(err) == model.ErrContextLength && len(t.past.messages) > 1 {
		if err := t.compact(ctx); err != nil {
			return nil, err
		}
		resp, err = t.stream(ctx, o)
	}
	if model.KindOf(err) == model.ErrEmpty {
		resp, err = &model.Response{Message: model.Message{Role: model.RoleAssistant}, Stop: model.StopEndTurn}, nil
	}
	if err != nil {
		return nil, errors.Join(err, t.keepPartial(ctx, resp))
	}
	return resp, t.keepResponse(ctx, resp)
}

func (t *turn) stream(ctx context.Context, o stepOptions) (*model.Response, error) {
	s := &streaming{turn: t, message: session.NewID("m"), thought: session.NewID("m")}
	return t.provider.Stream(ctx, t.request(o), func(e model.Event) error { return s.event(ctx, e) })
}

// request is what the model gets: the whole projection, the tools, and the
// system prompt with its stable part first.
func (t *turn) request(o stepOptions) *model.Request {
	messages := t.past.messages
	if o.ask != "" {
		messages = append(messages[:len(messages):len(messages)], model.UserText(o.ask))
	}
	messages, _ = model.Fit(messages, t.agent.Info(t.choice.Model))
	return &model.Request{
		Model:       t.choice.Model,
		System:      t.systemPrompt(),
		Messages:    messages,
		Tools:       toolSpecs(t.tools()),
		NoToolCalls: o.noTools,
		Thinking:    t.thought(t.choice),
		CacheKey:    t.id,
	}
}

func toolSpecs(set *tool.Set) []model.ToolSpec {
	specs := make([]model.ToolSpec, 0, len(set.Specs()))
	for _, s := range set.Specs() {
		specs = append(specs, model.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return specs
}

// streaming shows a model step while it runs.
type streaming struct {
	*turn
	message, thought string // message ids
}

func (s *streaming) event(ctx context.Context, e model.Event) error {
	switch e.Kind {
	case model.TextDelta:
		if e.Text != "" {
			s.said = true
		}
		return s.sink.Emit(ctx, chunk(s.id, session.KindAgentMessage, s.message, e.Text))
	case model.ThinkingDelta:
		if !s.thinks.Swap(true) {
			if err := s.tellOptions(ctx); err != nil { // there is one more now
				return err
			}
		}
		if s.choice.Reasoning == reasoningHidden {
			return nil
		}
		return s.sink.Emit(ctx, chunk(s.id, session.KindAgentThought, s.thought, e.Text))
	case model.Retrying:
		return s.sink.Emit(ctx, notice(s.id, "info", "Trying the model again", e.Retry.Reason))
	}
	return nil
}

// keepResponse keeps what the model said and what it cost. An empty message is
// not kept: providers refuse a history that holds one.
func (t *turn) keepResponse(ctx context.Context, resp *model.Response) error {
	var records []record
	if len(resp.Message.Parts) > 0 {
		t.past.renameReused(&resp.Message)
		records = append(records, record{Message: &resp.Message})
	}
	if resp.Usage != (model.Usage{}) {
		r := record{Usage: &resp.Usage, Window: resp.Usage.Context()}
		if price := t.agent.Info(t.choice.Model).Price; price != nil {
			r.Cost = resp.Usage.Cost(*price)
		}
		t.kin.spend(spent{resp.Usage, r.Cost})
		records = append(records, r)
	}
	if len(records) == 0 {
		return nil
	}
	if err := t.keep(ctx, records...); err != nil {
		return err
	}
	return t.showUsage(ctx)
}

// keepPartial keeps the words that arrived before a step ended early, so that
// the model knows later what the user has seen. Half tool calls are left out.
func (t *turn) keepPartial(ctx context.Context, partial *model.Response) error {
	if partial == nil {
		return nil
	}
	m := model.Message{Role: model.RoleAssistant}
	for _, p := range partial.Message.Parts {
		if p.IsText() && p.Text != "" {
			m.Parts = append(m.Parts, model.Text(p.Text))
		}
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return t.keep(detached(ctx), record{Message: &m})
}
