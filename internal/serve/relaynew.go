package serve

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// forwardNew answers a session/new that named a session which is active in the
// owner's instance: there it is a resume.
func (r *relay) forwardNew(ctx context.Context, req *acp.Request, id string) error {
	params, err := with(objectOr(req.Params), "sessionId", id)
	if err != nil {
		return err
	}
	return r.forwardAs(ctx, req, "session/resume", params, func(result raw) (raw, error) {
		return with(objectOr(result), "sessionId", id)
	})
}

// chooseSomewhere is choose, at the gateway whose store this is when the
// connection's options name the session and a gateway runs. c.choosing is held.
func (c *conn) chooseSomewhere(ctx context.Context, req *acp.Request, p *params, ch choice) error {
	if ch.byOptions && c.server.opts.Home != nil && c.server.opts.Relay != nil && !c.dialect.Load() {
		if socket, ok := c.server.opts.Home(); ok {
			return c.chooseAtHome(ctx, req, ch, socket)
		}
	}
	return c.choose(ctx, req, p, ch)
}

// chooseAtHome has the gateway answer a session/new. One connection to it is
// enough for all that the options name.
func (c *conn) chooseAtHome(ctx context.Context, req *acp.Request, ch choice, socket string) error {
	r, err := c.atHome(ctx, ch, socket)
	if err != nil {
		return err
	}
	params, err := namedParams(req.Params, ch)
	if err != nil {
		return err
	}
	err = r.forwardAs(ctx, req, "session/new", params, func(result raw) (raw, error) {
		var made struct {
			SessionID string `json:"sessionId"`
		}
		if err := json.Unmarshal(result, &made); err != nil {
			return nil, err
		}
		c.relayed(made.SessionID, r)
		return result, nil
	})
	if err != nil {
		return err
	}
	c.reset = c.reset || ch.reset // it was asked for; asking again could reset what others use by now
	return nil
}

// atHome is the connection to the gateway. One that has ended may not be forgotten
// yet, or may have been before it was kept.
func (c *conn) atHome(ctx context.Context, ch choice, socket string) (*relay, error) {
	c.mu.Lock()
	r := c.home
	c.mu.Unlock()
	if r != nil && !r.gone() {
		return r, nil
	}
	name := firstNonEmpty(ch.label, ch.key)
	r, err := c.reach(ctx, name, &session.ActiveElsewhereError{Session: name, Socket: socket})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.home = r
	return r, nil
}

// namedParams are the params of a session/new with the connection's choice in
// them.
func namedParams(params raw, ch choice) (raw, error) {
	meta := objectOr(lookup(params, "_meta"))
	for _, m := range []struct {
		name  string
		value any
		set   bool
	}{
		{"sessionLabel", ch.label, ch.label != ""},
		{"sessionKey", ch.key, ch.key != ""},
		{"resetSession", true, ch.reset},
		{"requireExisting", true, ch.mustExist},
	} {
		if !m.set {
			continue
		}
		var err error
		if meta, err = with(meta, m.name, m.value); err != nil {
			return nil, err
		}
	}
	return with(objectOr(params), "_meta", meta)
}
