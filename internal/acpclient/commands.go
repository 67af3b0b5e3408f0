package acpclient

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// ownCommands are those of the client itself. The agent's begin with a slash.
var ownCommands = [][2]string{
	{":help", "list the commands"},
	{":login", "METHOD: log in by one of the agent's methods"},
	{":mode", "[MODE]: show or choose the mode"},
	{":quit", "quit, like Ctrl+D"},
	{":sessions", "list the agent's sessions"},
	{":set", "[OPTION VALUE]: show or choose the agent's options"},
}

// command runs a command of the client's own.
func (l *loop) command(text string) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	c := l.client
	switch name {
	case "quit", "q":
		l.quit(nil)
	case "help":
		l.help()
	case "login":
		l.busy(func(ctx context.Context) error { return l.login(ctx, rest) })
	case "mode":
		l.busy(func(ctx context.Context) error { return c.mode(ctx, rest) })
	case "set":
		l.busy(func(ctx context.Context) error { return c.set(ctx, rest) })
	case "sessions":
		l.busy(c.sessions)
	default:
		c.view.say(warn("there is no :" + printable.Line(name) + "; :help lists the commands, and :: begins a prompt with a colon"))
	}
}

// busy runs a command that waits for the agent.
func (l *loop) busy(f func(context.Context) error) {
	ctx, stop := context.WithCancel(l.ctx)
	l.begin(stop, func() error {
		if err := f(ctx); err != nil {
			return l.client.gone(err)
		}
		return nil
	})
}

func (l *loop) help() {
	v := l.client.view
	for _, own := range ownCommands {
		v.say(plain("  " + own[0] + " " + own[1]))
	}
	for _, c := range v.agentCommands() {
		v.say(plain("  /"+printable.Line(c.Name)+" "), dim(printable.Line(c.Description)))
	}
	v.say(dim("Alt+Enter begins a new line, Tab completes commands. Ctrl+C cancels a turn, twice quits."))
}

// complete offers the commands that begin like the only word there is.
func (l *loop) complete(before string) []string {
	if strings.ContainsAny(before, " \n\t") || before == "" {
		return nil
	}
	var found []string
	for _, own := range ownCommands {
		if strings.HasPrefix(own[0], before) {
			found = append(found, own[0])
		}
	}
	for _, c := range l.client.view.agentCommands() {
		if name := "/" + printable.Line(c.Name); strings.HasPrefix(name, before) {
			found = append(found, name)
		}
	}
	return found
}

func (v *view) agentCommands() []v1.AvailableCommand {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.commands
}

// needsLogin reports whether a session can be had by logging in.
func (l *loop) needsLogin(err error) bool {
	rpc := (*acp.Error)(nil)
	return errors.As(err, &rpc) && rpc.Code == acp.CodeAuthRequired && l.client.info != nil
}

// login logs in, and opens the session that was not to be had before.
func (l *loop) login(ctx context.Context, method string) error {
	c := l.client
	if method == "" {
		return errors.New("name a method: " + c.logins())
	}
	if err := c.login(ctx, method); err != nil {
		return err
	}
	c.view.say(dim("logged in"))
	if c.session != "" {
		return nil
	}
	return c.open(ctx)
}

// mode shows the modes, or sets one.
func (c *client) mode(ctx context.Context, id string) error {
	c.mu.Lock()
	modes := c.modes
	var chosen v1.SessionModeID
	if modes != nil {
		chosen = modes.CurrentModeID // an update may change it at any time
	}
	c.mu.Unlock()
	if modes == nil {
		return errors.New("this agent has no modes; :set shows its options")
	}
	if id != "" {
		_, err := c.agent.SetSessionMode(ctx, &v1.SetSessionModeRequest{SessionID: c.session, ModeID: v1.SessionModeID(id)})
		if err == nil {
			c.mu.Lock()
			modes.CurrentModeID = v1.SessionModeID(id)
			c.mu.Unlock()
		}
		return err
	}
	for _, m := range modes.AvailableModes {
		c.view.say(plain("  " + current(m.ID == chosen) + printable.Line(string(m.ID)+"  "+m.Name)))
	}
	return nil
}

func current(is bool) string {
	if is {
		return "* "
	}
	return "  "
}

// sessions lists the first page of the agent's sessions.
func (c *client) sessions(ctx context.Context) error {
	if c.info.AgentCapabilities.SessionCapabilities.List == nil {
		return errors.New("this agent does not list its sessions")
	}
	list, err := c.agent.ListSessions(ctx, &v1.ListSessionsRequest{})
	if err != nil {
		return err
	}
	for _, s := range list.Sessions {
		title := ""
		if s.Title != nil {
			title = *s.Title
		}
		c.view.say(plain("  "+current(s.SessionID == c.session)+printable.Line(string(s.SessionID))), dim("  "+printable.Line(s.Cwd+"  "+title)))
	}
	if list.NextCursor != nil {
		c.view.say(dim("  and more"))
	}
	return nil
}

// set shows the agent's options, or sets one.
func (c *client) set(ctx context.Context, text string) error {
	name, value, _ := strings.Cut(text, " ")
	c.mu.Lock()
	options := c.options
	c.mu.Unlock()
	for _, o := range options {
		if name == "" {
			c.view.say(plain("  " + printable.Line(optionText(o))))
		}
		if string(o.ID) == name {
			return c.setOption(ctx, o, strings.TrimSpace(value))
		}
	}
	switch {
	case len(options) == 0:
		return errors.New("this agent has no options")
	case name != "":
		return fmt.Errorf("there is no option %q; :set lists them", name)
	}
	return nil
}

func (c *client) setOption(ctx context.Context, o v1.SessionConfigOption, value string) error {
	req := &v1.SetSessionConfigOptionRequest{SessionID: c.session, ConfigID: o.ID}
	if o.Boolean != nil {
		req.Boolean = &v1.SetSessionConfigOptionRequestBoolean{Value: value == "true" || value == "on"}
	} else {
		req.ValueID = &v1.SetSessionConfigOptionRequestValueID{Value: v1.SessionConfigValueID(value)}
	}
	answer, err := c.agent.SetSessionConfigOption(ctx, req)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.options = answer.ConfigOptions
	c.mu.Unlock()
	return nil
}

// optionText is an option with its value and what else it could be.
func optionText(o v1.SessionConfigOption) string {
	switch {
	case o.Boolean != nil:
		return fmt.Sprintf("%s = %v (true, false)", o.ID, o.Boolean.CurrentValue)
	case o.Select != nil:
		var values []string
		for _, v := range o.Select.Options.Ungrouped {
			values = append(values, string(v.Value))
		}
		for _, g := range o.Select.Options.Grouped {
			for _, v := range g.Options {
				values = append(values, string(v.Value))
			}
		}
		return fmt.Sprintf("%s = %s (%s)", o.ID, o.Select.CurrentValue, strings.Join(values, ", "))
	}
	return string(o.ID)
}
