package serve

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// choice is which session a session/new asks for: one with a label, one with a
// key, or with neither a new one that nobody else has.
type choice struct {
	label, key string
	reset      bool // the key gets a new session
	mustExist  bool
	byOptions  bool   // the connection's options choose
	agent      string // the alias that was asked for by itself
}

func (ch choice) named() bool { return ch.label != "" || ch.key != "" }

// choiceMeta are the members of _meta that choose. prefixCwd is for bridges; here
// an agent's tools work in the session's directory, which needs no telling.
type choiceMeta struct {
	SessionKey      string `json:"sessionKey"`
	SessionLabel    string `json:"sessionLabel"`
	ResetSession    bool   `json:"resetSession"`
	RequireExisting bool   `json:"requireExisting"`
	PrefixCwd       bool   `json:"prefixCwd"`
}

// choice reads which session is asked for. What the request says goes before the
// connection's options, a label before a key. c.choosing is held.
func (c *conn) choice(p *params) (choice, error) {
	m, err := readChoice(p.Meta)
	if err != nil {
		return choice{}, err
	}
	ch := choice{label: m.SessionLabel, key: m.SessionKey, reset: m.ResetSession, mustExist: m.RequireExisting, agent: p.agent()}
	if o := c.opts; !ch.named() {
		ch.label, ch.key = o.SessionLabel, o.SessionKey
		ch.byOptions = ch.named()
		ch.reset = ch.reset || o.ResetSession && !c.reset
		ch.mustExist = ch.mustExist || o.RequireExisting
	}
	switch {
	case ch.label != "":
		ch.key = ""
		return ch, session.CheckLabel(ch.label)
	case ch.key != "":
		return ch, c.checkKey(ch)
	case ch.mustExist:
		return ch, session.Invalidf("which session must exist? Name it by sessionKey or sessionLabel")
	}
	return ch, nil
}

func readChoice(meta raw) (choiceMeta, error) {
	var m choiceMeta
	if meta.Kind() != '{' {
		return m, nil
	}
	err := json.Unmarshal(meta, &m)
	if at := (&json.SemanticError{}); errors.As(err, &at) && at.JSONPointer != "" {
		return m, session.Invalidf("invalid params: /_meta%s must not be a %s", at.JSONPointer, kindName(at.JSONKind))
	}
	if err != nil {
		return m, session.Invalidf("invalid params: /_meta cannot be read: %v", err)
	}
	return m, nil
}

// checkKey checks a key before anything is looked up: the agent it names must be
// one the client may use, and the one that was asked for, if one was.
func (c *conn) checkKey(ch choice) error {
	alias, err := session.KeyAgent(ch.key)
	if err != nil || alias == "" {
		return err
	}
	if ch.agent != "" && ch.agent != alias {
		return session.Invalidf("session key %q names agent %s, but agentAlias asks for %s", ch.key, alias, ch.agent)
	}
	_, err = c.resolve(alias)
	return err
}

// chooseTries bounds how often a session is looked for that others make, reset
// and delete meanwhile.
const chooseTries = 10

// choose answers a session/new that names a session. c.choosing is held.
func (c *conn) choose(ctx context.Context, req *acp.Request, p *params, ch choice) error {
	var err error
	for range chooseTries {
		var info session.Info
		info, err = c.find(ctx, ch)
		switch {
		case errors.Is(err, session.ErrNotFound) && (ch.label != "" || ch.mustExist):
			return unknownName(ch)
		case errors.Is(err, session.ErrNotFound):
			err = c.createNamed(ctx, req, p, ch)
		case err != nil:
			return err
		case ch.reset:
			err = c.resetNamed(ctx, req, p, ch, info)
		default:
			err = c.joinNamed(ctx, req, p, info)
		}
		if !errors.As(err, new(*session.KeyTakenError)) && !errors.Is(err, session.ErrNotFound) {
			return err
		}
	}
	return session.Invalidf("session key %q cannot be used here", ch.key)
}

// find looks up the session of a choice; its agent must be the one asked for.
func (c *conn) find(ctx context.Context, ch choice) (info session.Info, err error) {
	if ch.label != "" {
		info, err = c.hub().ByLabel(ctx, ch.label)
	} else {
		info, err = c.hub().ByKey(ctx, ch.key)
	}
	if err == nil && ch.agent != "" && ch.agent != info.Agent {
		err = session.Invalidf("session %s is one of agent %s, but agentAlias asks for %s", info.ID, info.Agent, ch.agent)
	}
	return info, err
}

// unknownName refuses a name that has to be known and is not.
func unknownName(ch choice) error {
	if ch.label != "" {
		return newError(acp.CodeResourceNotFound, "there is no session with the label "+shown(ch.label), errorData{})
	}
	return newError(acp.CodeResourceNotFound, "there is no session with the key "+shown(ch.key), errorData{})
}

func (c *conn) createNamed(ctx context.Context, req *acp.Request, p *params, ch choice) error {
	if alias, _ := session.KeyAgent(ch.key); alias != "" {
		p.Agent = alias
	}
	return c.make(ctx, req, p, func(n hub.NewSession) (session.Attachment, error) {
		n.Key = ch.key
		return c.hub().Create(ctx, n)
	})
}

func (c *conn) resetNamed(ctx context.Context, req *acp.Request, p *params, ch choice, old session.Info) error {
	p.Agent = old.Agent
	if cwd := p.cwd(); cwd == "" || cwd == placeholderCwd {
		p.Cwd, p.Roots = &old.Cwd, old.Roots
	}
	err := c.make(ctx, req, p, func(n hub.NewSession) (session.Attachment, error) {
		return c.hub().Reset(ctx, old.ID, n)
	})
	if err == nil && ch.byOptions {
		c.reset = true
	}
	return err
}

// joinNamed attaches to a session that is there already, in its lane.
func (c *conn) joinNamed(ctx context.Context, req *acp.Request, p *params, info session.Info) error {
	p.SessionID = info.ID
	done := make(chan error, 1)
	c.lanes.do(info.ID, func() {
		defer c.rescue(req)
		defer func() {
			select {
			case done <- nil: // unless it has been told already
			default:
			}
		}()
		done <- c.joinHere(ctx, req, p, info)
	})
	return <-done
}

func (c *conn) joinHere(ctx context.Context, req *acp.Request, p *params, info session.Info) error {
	if v, ok := c.view(info.ID); ok && v.relay != nil {
		return v.relay.forwardNew(ctx, req, info.ID)
	}
	at, err := c.joinRequest(p, info, session.ReplayNone)
	if err != nil {
		return err
	}
	if info.Archived && at.Role >= session.Prompter {
		if err := c.hub().Archive(ctx, info.ID, false); err != nil && !errors.As(err, new(*session.ActiveElsewhereError)) {
			return err
		}
	}
	att, owner, err := c.join(ctx, info.ID, at)
	switch {
	case err != nil:
		return err
	case owner != nil:
		c.relayed(info.ID, owner)
		return owner.forwardNew(ctx, req, info.ID)
	}
	c.announce(req, att, p)
	return nil
}
