package conformance

import (
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/interop/peer"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// object is a JSON object in the making.
type object = map[string]any

// requirement is an entry of the registry with what shows that it is met.
type requirement struct {
	id   string
	test func(t *testing.T, c *client)
}

// verify tests requirements, each on an agent of its own that has been
// initialized, and ends the agent.
func verify(t *testing.T, list []requirement) {
	t.Helper()
	for _, r := range list {
		t.Run(r.id, func(t *testing.T) {
			t.Parallel()
			c := start(t, testbed.New(t, testbed.Anthropic))
			c.initialize()
			r.test(t, c)
			c.end()
		})
	}
}

// client is the kit's client: it offers nothing and allows everything.
type client struct {
	*peer.Agent
	t     *testing.T
	bed   *testbed.Bed
	can   capabilities
	all   []peer.Message // once it has ended
	ended bool
}

// capabilities are what initialize told.
type capabilities struct {
	ProtocolVersion int `json:"protocolVersion"`
	AgentInfo       struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	AuthMethods []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"authMethods"`
	Agent struct {
		LoadSession bool            `json:"loadSession"`
		Prompt      map[string]bool `json:"promptCapabilities"`
	} `json:"agentCapabilities"`
}

func start(t *testing.T, bed *testbed.Bed) *client {
	t.Helper()
	c := &client{Agent: bed.Start(t, checker(t)), t: t, bed: bed}
	c.Handle("session/request_permission", allow)
	return c
}

// allow chooses the option that allows once.
func allow(params jsontext.Value) (any, *peer.Error) {
	var p struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &peer.Error{Code: -32602, Message: err.Error()}
	}
	for _, o := range p.Options {
		if o.Kind == "allow_once" {
			return object{"outcome": object{"outcome": "selected", "optionId": o.ID}}, nil
		}
	}
	return object{"outcome": object{"outcome": "cancelled"}}, nil
}

func (c *client) initialize() {
	c.t.Helper()
	c.Must("initialize", initializeParams(1), &c.can)
}

// initializeParams has what version 2 wants, too, as a client of the future
// sends it.
func initializeParams(version int) object {
	info := object{"name": "conformance", "version": "1"}
	return object{"protocolVersion": version, "clientCapabilities": object{}, "clientInfo": info, "info": info}
}

func (c *client) newSession() string {
	c.t.Helper()
	var s struct {
		ID string `json:"sessionId"`
	}
	c.Must("session/new", object{"cwd": c.bed.Work, "mcpServers": []any{}}, &s)
	if s.ID == "" {
		c.t.Fatal("session/new gives no sessionId")
	}
	return s.ID
}

func promptParams(session string, blocks ...object) object {
	return object{"sessionId": session, "prompt": blocks}
}

func text(s string) object { return object{"type": "text", "text": s} }

// prompt runs a turn and returns its response.
func (c *client) prompt(session string, blocks ...object) peer.Message {
	c.t.Helper()
	m := c.Call("session/prompt", promptParams(session, blocks...))
	c.wantStop(m)
	return m
}

func stopReason(m peer.Message) string {
	var r struct {
		StopReason string `json:"stopReason"`
	}
	_ = json.Unmarshal(m.Result, &r)
	return r.StopReason
}

// wantStop fails the test unless a prompt's response has a stop reason.
func (c *client) wantStop(m peer.Message) {
	c.t.Helper()
	switch stopReason(m) {
	case "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled":
	default:
		c.t.Errorf("session/prompt: not a stop reason in %s", m.Line)
	}
}

// begin starts a turn that does not end by itself and waits until it shows.
func (c *client) begin(session string) (id string) {
	c.t.Helper()
	id = c.Request("session/prompt", promptParams(session, text("D:SAY It begins. ; D:STALL")))
	c.Wait("an answer that begins", func(m *peer.Message) bool {
		u, ok := m.Update()
		return ok && u.SessionID == session && u.Kind == "agent_message_chunk"
	})
	return id
}

func (c *client) wantCode(m peer.Message, code int) {
	c.t.Helper()
	err := m.Failure()
	if err == nil || err.Code != code {
		c.t.Errorf("want error %d, got %s", code, m.Line)
	}
}

func (c *client) wantObject(m peer.Message) {
	c.t.Helper()
	if m.Result.Kind() != '{' {
		c.t.Errorf("want an object for a result, got %s", m.Line)
	}
}

// end ends the agent, unless it has ended; then all it said is in c.all.
func (c *client) end() {
	c.t.Helper()
	if !c.ended {
		c.all, c.ended = c.Close(), true
	}
}

// updates ends the agent and returns the updates of a session that came before
// or after message n.
func (c *client) updates(session string, n int) (before, after []peer.Update) {
	c.t.Helper()
	c.end()
	for _, m := range c.all {
		u, ok := m.Update()
		switch {
		case !ok || u.SessionID != session:
		case m.N < n:
			before = append(before, u)
		default:
			after = append(after, u)
		}
	}
	return before, after
}

func kinds(updates []peer.Update) map[string]int {
	count := map[string]int{}
	for _, u := range updates {
		count[u.Kind]++
	}
	return count
}

func quote(s string) string { return strconv.Quote(s) }
