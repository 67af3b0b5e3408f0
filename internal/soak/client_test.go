package soak

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// object is a JSON object in the making.
type object = map[string]any

// patience bounds every wait: a correct agent answers in milliseconds, but the
// machine may be busy and the binary built with the race detector.
const patience = 60 * time.Second

// client is an editor that says yes to everything and writes down what it is
// shown. It does all its work in the goroutine that calls it.
type client struct {
	r       *run
	agent   *fieldtest.Agent
	next    int // first message not looked at yet
	answers map[string]fieldtest.Message
	shown   map[string]*transcript // by session, while attached
}

// start runs an agent with more arguments and shakes hands.
func (r *run) start(args ...string) *client {
	c := &client{
		r: r, agent: r.Start(args...), answers: make(map[string]fieldtest.Message),
		shown: make(map[string]*transcript),
	}
	c.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "soak", "version": "0"}})
	return c
}

// step looks at the next message, waiting for it up to bound; false when there
// is none.
func (c *client) step(bound time.Duration) bool {
	m, ok := c.agent.Next(c.next, bound)
	if !ok {
		return false
	}
	c.next = m.Line + 1
	switch m.Method {
	case "":
		c.answers[string(m.ID)] = m
	case "session/update":
		c.update(m)
	case "session/request_permission":
		c.agent.Choose(c.agent.AwaitPermission(m.Line), "allow_once")
	}
	return true
}

func (c *client) update(m fieldtest.Message) {
	var p update
	if err := json.Unmarshal(m.Params, &p); err != nil {
		c.r.t.Fatal(err)
	}
	t := c.shown[p.SessionID]
	if t == nil {
		t = newTranscript(p.SessionID)
		c.shown[p.SessionID] = t
	}
	if err := t.show(p); err != nil {
		c.r.t.Fatalf("session %s: %v", p.SessionID, err)
	}
}

// watch looks at messages for a time.
func (c *client) watch(d time.Duration) {
	for until := time.Now().Add(d); c.step(time.Until(until)); {
	}
}

// drain looks at what came before the agent ended.
func (c *client) drain() {
	for c.next < c.agent.Lines() {
		m := c.agent.Messages()[c.next:]
		for _, m := range m {
			c.next = m.Line + 1
			if m.Method == "session/update" {
				c.update(m)
			} else if m.Method == "" {
				c.answers[string(m.ID)] = m
			}
		}
	}
}

// answer waits for the answer to a request.
func (c *client) answer(id, what string) fieldtest.Message {
	c.r.t.Helper()
	for until := time.Now().Add(patience); ; {
		if m, ok := c.answers[id]; ok {
			delete(c.answers, id)
			return m
		}
		if !c.step(time.Until(until)) {
			c.r.t.Fatalf("no answer to %s\n%s", what, c.agent.Stderr())
		}
	}
}

// call makes a request that has to succeed.
func (c *client) call(method string, params object) fieldtest.Message {
	c.r.t.Helper()
	m := c.answer(c.agent.Begin(method, params), method)
	if m.Error != nil {
		c.r.t.Fatalf("%s %v failed: %d %s %s\n%s", method, params, m.Error.Code, m.Error.Message, m.Error.Data, c.agent.Stderr())
	}
	return m
}

// open makes a session.
func (c *client) open() string {
	c.r.t.Helper()
	var result struct {
		SessionID string `json:"sessionId"`
	}
	m := c.call("session/new", object{"cwd": c.r.Cwd, "mcpServers": []any{}})
	if err := json.Unmarshal(m.Result, &result); err != nil {
		c.r.t.Fatal(err)
	}
	return result.SessionID
}

// begin sends a prompt and returns its id.
func (c *client) begin(session, text string) string {
	c.r.t.Helper()
	return c.agent.BeginPrompt(session, text)
}

// say runs a turn that has to end well.
func (c *client) say(session, text string) {
	c.r.t.Helper()
	if stop := c.answer(c.begin(session, text), text).StopReason(); stop != "end_turn" {
		c.r.t.Fatalf("session %s, %q: %s\n%s", session, text, stop, c.agent.Stderr())
	}
}

// load loads a session and returns its whole transcript.
func (c *client) load(session string) *transcript {
	c.r.t.Helper()
	t := newTranscript(session)
	t.loading = true
	c.shown[session] = t
	c.call("session/load", c.r.LoadParams(session))
	t.loading = false
	return t
}

// list returns the ids of all sessions.
func (c *client) list() map[string]bool {
	c.r.t.Helper()
	ids := make(map[string]bool)
	for cursor := ""; ; {
		params := object{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Sessions []struct {
				SessionID string `json:"sessionId"`
			} `json:"sessions"`
			NextCursor string `json:"nextCursor"`
		}
		if err := json.Unmarshal(c.call("session/list", params).Result, &page); err != nil {
			c.r.t.Fatal(err)
		}
		for _, s := range page.Sessions {
			ids[s.SessionID] = true
		}
		if cursor = page.NextCursor; cursor == "" {
			return ids
		}
	}
}

// quit ends the agent the way editors do.
func (c *client) quit() {
	c.r.t.Helper()
	c.agent.CloseInput()
	if code := c.agent.WaitExit(); code != 0 {
		c.r.t.Errorf("exit code %d\n%s", code, c.agent.Stderr())
	}
	c.drain()
}

// crash kills the agent with all it does, and looks at what it got out before.
func (c *client) crash() {
	c.agent.Crash()
	c.drain()
}

func number(n int) string { return fmt.Sprintf("soak-%d", n) }

func unmarshal(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
