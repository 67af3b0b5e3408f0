package acpclient

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// open makes, loads or resumes the session.
func (c *client) open(ctx context.Context) error {
	switch {
	case c.opts.Load != "":
		return c.load(ctx)
	case c.opts.Resume != "":
		return c.resume(ctx)
	}
	req := &v1.NewSessionRequest{Cwd: c.opts.Cwd}
	if c.opts.Key != "" {
		meta, err := json.Marshal(map[string]string{"sessionKey": c.opts.Key})
		if err != nil {
			return fmt.Errorf("write the session key: %w", err)
		}
		req.Meta = jsontext.Value(meta)
	}
	s, err := c.agent.NewSession(ctx, req)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	c.opened(s.SessionID, s.Modes, s.ConfigOptions)
	return nil
}

func (c *client) load(ctx context.Context) error {
	if !c.info.AgentCapabilities.LoadSession {
		return errors.New("this agent cannot load sessions")
	}
	id := v1.SessionID(c.opts.Load)
	c.opened(id, nil, nil) // its history comes before the answer
	c.view.replaying(true)
	defer c.view.replaying(false)
	s, err := c.agent.LoadSession(ctx, &v1.LoadSessionRequest{SessionID: id, Cwd: c.opts.Cwd})
	if err != nil {
		return fmt.Errorf("load the session %s: %w", c.opts.Load, err)
	}
	c.opened(id, s.Modes, s.ConfigOptions)
	return nil
}

func (c *client) resume(ctx context.Context) error {
	if c.info.AgentCapabilities.SessionCapabilities.Resume == nil {
		return errors.New("this agent cannot resume sessions")
	}
	id := v1.SessionID(c.opts.Resume)
	c.opened(id, nil, nil)
	s, err := c.agent.ResumeSession(ctx, &v1.ResumeSessionRequest{SessionID: id, Cwd: c.opts.Cwd})
	if err != nil {
		return fmt.Errorf("resume the session %s: %w", c.opts.Resume, err)
	}
	c.opened(id, s.Modes, s.ConfigOptions)
	return nil
}

// opened takes over a session, and shows what came of it before it had a name.
func (c *client) opened(id v1.SessionID, modes *v1.SessionModeState, options []v1.SessionConfigOption) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.modes, c.options = id, modes, options
	early := c.early
	c.early = nil
	for _, n := range early {
		c.show(n)
	}
}

// update takes session/update, in the order of arrival.
func (c *client) update(_ context.Context, n *v1.SessionNotification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.session == "" && len(c.early) < maxEarly:
		c.early = append(c.early, n)
	case n.SessionID == c.session:
		c.show(n)
	}
}

// show shows an update of the session; c.mu is held.
func (c *client) show(n *v1.SessionNotification) {
	if n.SessionID != c.session {
		return
	}
	if u := n.Update.CurrentModeUpdate; u != nil && c.modes != nil {
		c.modes.CurrentModeID = u.CurrentModeID
	}
	if u := n.Update.ConfigOptionUpdate; u != nil {
		c.options = u.ConfigOptions
	}
	c.view.update(&n.Update)
}

// advise adds to an error what the person can do about it.
func (c *client) advise(err error) error {
	rpc := (*acp.Error)(nil)
	if !errors.As(err, &rpc) || rpc.Code != acp.CodeAuthRequired {
		return err
	}
	return fmt.Errorf("%w\n%s", err, c.logins())
}

// logins describes the ways to log in.
func (c *client) logins() string {
	var b strings.Builder
	b.WriteString("the agent wants a login:")
	if c.opts.Terminal == nil && len(c.info.AuthMethods) > 0 {
		b.WriteString(" run grapnel acp client at a terminal for a line with :login")
	}
	for _, m := range c.info.AuthMethods {
		switch {
		case m.Agent != nil:
			fmt.Fprintf(&b, "\n  :login %s   %s", printable.Line(string(m.Agent.ID)), printable.Line(m.Agent.Name))
		case m.Terminal != nil:
			command := strings.TrimSpace(strings.Join(append(c.opts.Server, m.Terminal.Args...), " "))
			fmt.Fprintf(&b, "\n  run %s   %s", printable.Line(command), printable.Line(m.Terminal.Name))
		}
	}
	if len(c.info.AuthMethods) == 0 {
		b.WriteString(" it names no way; log in with its own program")
	}
	return b.String()
}

// login authenticates by a method.
func (c *client) login(ctx context.Context, method string) error {
	_, err := c.agent.Authenticate(ctx, &v1.AuthenticateRequest{MethodID: v1.AuthMethodID(method)})
	if err != nil {
		return c.gone(fmt.Errorf("log in by %s: %w", method, err))
	}
	return nil
}
