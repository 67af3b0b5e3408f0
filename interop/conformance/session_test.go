package conformance

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/interop/peer"
)

func TestSession(t *testing.T) {
	verify(t, []requirement{
		{"ACP-SESSION-001", func(_ *testing.T, c *client) { c.newSession() }},
		{"ACP-SESSION-002", func(t *testing.T, c *client) {
			if a, b := c.newSession(), c.newSession(); a == b {
				t.Errorf("two sessions are called %s", a)
			}
		}},
		{"ACP-ADDDIRS-001", func(t *testing.T, c *client) {
			c.Must("session/new", object{"cwd": c.bed.Work, "mcpServers": []any{}, "additionalDirectories": []any{t.TempDir()}}, nil)
		}},
	})
}

func TestLoadAndResume(t *testing.T) {
	verify(t, []requirement{
		{"ACP-LOAD-001", func(_ *testing.T, c *client) {
			session := c.newSession()
			c.prompt(session, text("D:SAY remember this"))
			c.wantObject(c.load(session))
		}},
		{"ACP-LOAD-002", replayComesFirst},
		{"ACP-LOAD-003", func(_ *testing.T, c *client) {
			session := c.newSession()
			c.wantObject(c.load(session)) // with nothing in it, either
		}},
		{"ACP-RESUME-001", func(_ *testing.T, c *client) {
			session := c.newSession()
			c.wantObject(c.Must("session/resume", object{"sessionId": session, "cwd": c.bed.Work}, nil))
		}},
		{"ACP-RESUME-002", resumeReplaysNothing},
	})
}

func (c *client) load(session string) peer.Message {
	c.t.Helper()
	return c.Must("session/load", object{"sessionId": session, "cwd": c.bed.Work, "mcpServers": []any{}}, nil)
}

func replayComesFirst(t *testing.T, c *client) {
	session := c.newSession()
	c.prompt(session, text("D:THINK hm ; D:SAY before ; D:TOOL read README.md"))
	c.end()

	next := start(t, c.bed) // a new process
	next.initialize()
	loaded := next.load(session)
	before, after := next.updates(session, loaded.N)
	if seen := kinds(before); seen["user_message_chunk"] == 0 || seen["agent_message_chunk"] == 0 || seen["tool_call"] == 0 {
		t.Errorf("the replay has only %v", seen)
	}
	if seen := history(after); seen != 0 {
		t.Errorf("%d updates of the conversation come after the response", seen)
	}
}

func resumeReplaysNothing(t *testing.T, c *client) {
	session := c.newSession()
	c.prompt(session, text("D:THINK hm ; D:SAY before ; D:TOOL read README.md"))
	c.end()

	next := start(t, c.bed)
	next.initialize()
	next.Must("session/resume", object{"sessionId": session, "cwd": c.bed.Work}, nil)
	before, after := next.updates(session, len(next.Messages()))
	if n := history(before) + history(after); n != 0 {
		t.Errorf("%d updates of the conversation come on resume", n)
	}
}

// history counts updates that belong to a conversation.
func history(updates []peer.Update) (n int) {
	for _, kind := range []string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"} {
		n += kinds(updates)[kind]
	}
	return n
}

func TestListDeleteClose(t *testing.T) {
	verify(t, []requirement{
		{"ACP-LIST-001", func(t *testing.T, c *client) {
			session := c.newSession()
			if list := c.list(object{}); len(list) != 1 || list[0] != session {
				t.Errorf("the list is %v, the only session %s", list, session)
			}
		}},
		{"ACP-LIST-002", func(t *testing.T, c *client) {
			c.newSession()
			if list := c.list(object{"cwd": "/nobody/works/here"}); list == nil || len(list) != 0 {
				t.Errorf("the list is %v", list)
			}
		}},
		{"ACP-DELETE-001", func(t *testing.T, c *client) {
			session := c.newSession()
			c.wantObject(c.Must("session/delete", object{"sessionId": session}, nil))
			if list := c.list(object{}); len(list) != 0 {
				t.Errorf("still listed: %v", list)
			}
		}},
		{"ACP-DELETE-002", func(_ *testing.T, c *client) {
			session := c.newSession()
			c.Must("session/delete", object{"sessionId": session}, nil)
			c.Must("session/delete", object{"sessionId": session}, nil)
			c.Must("session/delete", object{"sessionId": "never created"}, nil)
		}},
		{"ACP-CLOSE-001", func(_ *testing.T, c *client) {
			c.wantObject(c.Must("session/close", object{"sessionId": c.newSession()}, nil))
		}},
		{"ACP-CLOSE-002", func(t *testing.T, c *client) {
			session := c.newSession()
			id := c.begin(session)
			c.Must("session/close", object{"sessionId": session}, nil)
			if stop := stopReason(c.Response(id)); stop != "cancelled" {
				t.Errorf("the turn ends with %q", stop)
			}
		}},
	})
}

func (c *client) list(params object) []string {
	c.t.Helper()
	var r struct {
		Sessions []struct {
			ID string `json:"sessionId"`
		} `json:"sessions"`
	}
	c.Must("session/list", params, &r)
	if r.Sessions == nil {
		c.t.Error("sessions is not an array")
	}
	ids := []string{}
	for _, s := range r.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestAuthentication(t *testing.T) {
	verify(t, []requirement{
		{"ACP-AUTH-001", func(t *testing.T, c *client) {
			seen := map[string]bool{}
			for _, m := range c.can.AuthMethods {
				if seen[m.ID] {
					t.Errorf("two methods are called %s", m.ID)
				}
				seen[m.ID] = true
			}
		}},
		{"ACP-AUTH-002", func(t *testing.T, c *client) {
			for _, m := range c.can.AuthMethods {
				if m.Type == "terminal" {
					t.Errorf("method %s needs a terminal that was not offered", m.ID)
				}
			}
		}},
		{"ACP-AUTH-003", func(_ *testing.T, c *client) {
			for _, m := range c.can.AuthMethods {
				c.wantObject(c.Must("authenticate", object{"methodId": m.ID}, nil))
				c.newSession()
			}
		}},
		{"ACP-AUTH-004", func(_ *testing.T, c *client) {
			c.wantObject(c.Must("logout", object{}, nil))
		}},
		{"ACP-AUTH-005", func(_ *testing.T, c *client) {
			c.newSession() // without authenticate
		}},
	})
}

// option is a configuration option as session/new gives it.
type option struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Current jsontext.Value `json:"currentValue"`
	Options []struct {
		Value   string `json:"value"`
		Options []struct {
			Value string `json:"value"`
		} `json:"options"`
	} `json:"options"`
}

// values lists the values of a select, grouped or not.
func (o option) values() []string {
	var list []string
	for _, v := range o.Options {
		if v.Options == nil {
			list = append(list, v.Value)
		}
		for _, g := range v.Options {
			list = append(list, g.Value)
		}
	}
	return list
}

// setup is what session/new tells of a session.
type setup struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Options []option `json:"configOptions"`
}

func (c *client) setup() (s setup) {
	c.t.Helper()
	c.Must("session/new", object{"cwd": c.bed.Work, "mcpServers": []any{}}, &s)
	return s
}

func TestModesAndOptions(t *testing.T) {
	verify(t, []requirement{
		{"ACP-MODES-001", func(t *testing.T, c *client) {
			m := c.setup().Modes
			for _, a := range m.Available {
				if a.ID == m.Current {
					return
				}
			}
			t.Errorf("the current mode %q is none of %v", m.Current, m.Available)
		}},
		{"ACP-MODES-002", modesCanBeSet},
		{"ACP-CONFIG-001", func(t *testing.T, c *client) {
			for _, o := range c.setup().Options {
				if !o.has(string(o.Current)) {
					t.Errorf("option %s has the value %s, which is none of %v", o.ID, o.Current, o.values())
				}
			}
		}},
		{"ACP-CONFIG-002", optionsAnswerWhole},
		{"ACP-CONFIG-003", func(t *testing.T, c *client) {
			for _, o := range c.setup().Options {
				if o.Type != "select" {
					t.Errorf("option %s is of type %s, which was not offered", o.ID, o.Type)
				}
			}
		}},
	})
}

func (o option) has(current string) bool {
	for _, v := range o.values() {
		if quote(v) == current {
			return true
		}
	}
	return false
}

func modesCanBeSet(t *testing.T, c *client) {
	s := c.setup()
	if len(s.Modes.Available) < 2 {
		t.Fatalf("there is no other mode: %v", s.Modes)
	}
	other := s.Modes.Available[1].ID
	c.wantObject(c.Must("session/set_mode", object{"sessionId": s.ID, "modeId": other}, nil))
	c.end()
	for _, m := range c.all {
		u, ok := m.Update()
		if !ok || u.Kind != "current_mode_update" {
			continue
		}
		if got := member(u.Body, "currentModeId"); got != quote(other) {
			t.Errorf("the update says %s, not %s", got, other)
		}
	}
}

func optionsAnswerWhole(t *testing.T, c *client) {
	s := c.setup()
	for _, o := range s.Options {
		values := o.values()
		last := values[len(values)-1]
		var r setup
		c.Must("session/set_config_option", object{"sessionId": s.ID, "configId": o.ID, "value": last}, &r)
		if len(r.Options) < len(s.Options) {
			t.Errorf("%d of %d options come back", len(r.Options), len(s.Options))
		}
		for _, now := range r.Options {
			if now.ID == o.ID && string(now.Current) != quote(last) {
				t.Errorf("option %s is %s, not %s", o.ID, now.Current, last)
			}
		}
	}
}
