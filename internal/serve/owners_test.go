package serve_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// sessionCalls are all requests about one session: name and params with ID for
// its id and DIR for the directory.
func sessionCalls() [][2]string {
	return [][2]string{
		{"session/load", `{"sessionId":"ID","cwd":"DIR","mcpServers":[]}`},
		{"session/resume", `{"sessionId":"ID","cwd":"DIR"}`},
		{"session/resume", `{"sessionId":"ID","cwd":"DIR","_meta":{"grapnel":{"after":1}}}`},
		{"session/fork", `{"sessionId":"ID","cwd":"DIR","mcpServers":[]}`},
		{"session/prompt", `{"sessionId":"ID","prompt":[{"type":"text","text":"say hello"}]}`},
		{"_session/steering", `{"sessionId":"ID","prompt":[{"type":"text","text":"say hello"}]}`},
		{"session/cancel", `{"sessionId":"ID"}`},
		{"session/set_mode", `{"sessionId":"ID","modeId":"full"}`},
		{"session/set_model", `{"sessionId":"ID","modelId":"m"}`},
		{"session/set_config_option", `{"sessionId":"ID","configId":"mode","value":"full"}`},
		{serve.MethodRevoke, `{"sessionId":"ID","grants":[]}`},
		{serve.MethodShare, `{"sessionId":"ID","owner":"b","role":"approver"}`},
		{serve.MethodShare, `{"sessionId":"ID","owner":"a","revoke":true}`},
		{serve.MethodLabel, `{"sessionId":"ID","label":"mine"}`},
		{"session/new", `{"cwd":"DIR","mcpServers":[],"_meta":{"sessionKey":"agent:main:ID","requireExisting":true}}`},
		{"session/new", `{"cwd":"DIR","mcpServers":[],"_meta":{"sessionLabel":"the ID"}}`},
		{"session/set_title", `{"sessionId":"ID","title":"mine now"}`},
		{"session/archive", `{"sessionId":"ID"}`},
		{"session/unarchive", `{"sessionId":"ID"}`},
		{"session/status", `{"sessionId":"ID"}`},
		{"session/update", `{"sessionId":"ID","update":{"sessionUpdate":"plan","entries":[]}}`},
		{"session/event", `{"sessionId":"ID","event":{"type":"x"}}`},
		{"session/stop", `{"sessionId":"ID"}`},
		{"session/close", `{"sessionId":"ID"}`},
		{"session/delete", `{"sessionId":"ID"}`},
		{"session/load", `{"sessionId":"ID","cwd":"/nowhere","mcpServers":[]}`},
		{"session/load", `{"sessionId":"ID","cwd":7}`},
		{"session/nothing", `{"sessionId":"ID"}`},
	}
}

// probe makes a call about a session and returns the answer's bytes, with ID for
// the session's id and N for the request's.
func (c *client) probe(call [2]string, id string) string {
	params := strings.NewReplacer("ID", id, "DIR", c.h.dir).Replace(call[1])
	_, _ = c.call(call[0], params) // the bytes are what is looked at
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	answer := c.wire.read[len(c.wire.read)-1]
	answer = regexp.MustCompile(`"id":\d+`).ReplaceAllString(answer, `"id":N`)
	return strings.ReplaceAll(answer, id, "ID")
}

// TestOwnersAreApart has a stranger try every method on a session that is not
// his: it answers as for an id that was never given out, to the byte, and the
// session and its owner notice nothing (Z7). It is so while a turn waits for a
// person, and again when the session is parked.
func TestOwnersAreApart(t *testing.T) {
	for _, dialect := range []bool{false, true} {
		t.Run(fmt.Sprintf("dialect %v", dialect), func(t *testing.T) {
			h := newHouse(t)
			a := h.connectAs(serve.ConnOptions{Owner: "a", Role: session.Approver}, `{}`)
			b := h.connectAs(serve.ConnOptions{Owner: "b", Role: session.Approver, Dialect: dialect}, `{}`)
			id := a.open()
			a.must(serve.MethodLabel, `{"sessionId":"`+id+`","label":"the `+id+`"}`)
			done := make(chan error, 1)
			go func() {
				_, err := a.call("session/prompt", prompt(id, "ask"))
				done <- err
			}()
			question := a.request(0)
			h.probeAll(b, id)
			b.answer(question.ID.Raw())
			a.must("session/status", `{"sessionId":"`+id+`"}`) // the server has read b's answer long since
			select {
			case err := <-done:
				t.Fatalf("the turn ended: %v", err)
			case <-question.ctx.Done():
				t.Fatal("the question was withdrawn")
			default:
			}
			if err := question.Reply(jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"yes"}}`)); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("the owner's turn: %v", err)
			}
			a.must("session/close", `{"sessionId":"`+id+`"}`)
			h.probeAll(b, id)
			a.must("session/load", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[]}`)
			a.until("user_message_chunk", "ask")
			b.noticedNothing(id)
		})
	}
}

// TestKeysOfTwoOwners shows that a key names a session of one's own: it does not
// tell that another has one of the same name, and does not lead there.
func TestKeysOfTwoOwners(t *testing.T) {
	h := newHouse(t)
	const named = `{"cwd":"DIR","mcpServers":[],"_meta":{"sessionKey":"agent:main:shared-name"}}`
	var ids []string
	for _, owner := range []string{"a", "b", "a"} {
		c := h.connectAs(serve.ConnOptions{Owner: owner, Role: session.Approver}, `{}`)
		var r struct {
			SessionID string `json:"sessionId"`
		}
		if err := json.Unmarshal(c.must("session/new", strings.ReplaceAll(named, "DIR", h.dir)), &r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.SessionID)
	}
	if ids[0] == ids[1] || ids[0] != ids[2] {
		t.Errorf("a, b and a again get %v", ids)
	}
}

// probeAll holds that b cannot tell id from one that was never given out.
func (h *house) probeAll(b *client, id string) {
	h.Helper()
	before := b.list()
	for _, call := range sessionCalls() {
		random := session.NewID("s")
		if want, got := b.probe(call, random), b.probe(call, id); got != want {
			h.Errorf("%s answers\n%s\nfor another's session, and for none\n%s", call[0], got, want)
		}
	}
	if after := b.list(); after != before {
		h.Errorf("what b can list and find was %s and is %s", before, after)
	}
}

func (c *client) list() string {
	rows := string(c.must("session/list", `{"_meta":{"grapnel":{"subagents":true}},"archived":"include"}`))
	return rows + string(c.must(serve.MethodSearch, `{"text":"ask","archived":"include"}`))
}

// answer sends an answer to a request that was never made of c.
func (c *client) answer(id []byte) {
	c.h.Helper()
	msg := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`, id)
	if err := c.wire.WriteMessage(c.h.Context(), jsontext.Value(msg)); err != nil {
		c.h.Fatal(err)
	}
	c.list() // by now it was read
}

// noticedNothing holds that c was told nothing of a session but in answers to
// what it asked.
func (c *client) noticedNothing(id string) {
	c.h.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) > 0 || slices.ContainsFunc(c.notes, func(n string) bool { return strings.Contains(n, id) }) {
		c.h.Errorf("the stranger was asked %d things and told %v", len(c.asked), c.notes)
	}
}

// TestAdmin shows that the gateway is managed by those who may, and unknown to
// others.
func TestAdmin(t *testing.T) {
	h := newHouse(t)
	h.server = serve.New(serve.Options{
		Hub: h.hub, Agents: oneAgent{h.dir}, Auth: noAuth{}, Version: "test",
		Admin: func(_ context.Context, method string, params jsontext.Value) (any, error) {
			if method == serve.MethodAdmin+"bad" {
				return nil, errors.New("it is not so")
			}
			return map[string]string{"method": method, "params": string(params)}, nil
		},
	})
	admin := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Admin: true}, `{}`)
	got := admin.must("_grapnel/gateway/pair", `{"a":1}`)
	if !strings.Contains(string(got), `"method":"_grapnel/gateway/pair"`) || !strings.Contains(string(got), `{\"a\":1}`) {
		t.Errorf("it answers %s", got)
	}
	if _, err := admin.call("_grapnel/gateway/bad", `{}`); err == nil || !strings.Contains(err.Error(), "it is not so") {
		t.Errorf("the error is %v", err)
	}
	if code := admin.code("_grapnel/other", `{}`); code != acp.CodeMethodNotFound {
		t.Errorf("another method: %d", code)
	}
	client := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver}, `{}`)
	if code := client.code("_grapnel/gateway/pair", `{}`); code != acp.CodeMethodNotFound {
		t.Errorf("somebody else: %d", code)
	}
}

// TestRateLimit refuses requests of an owner who makes too many, and lets a
// cancel through.
func TestRateLimit(t *testing.T) {
	h := newHouse(t)
	var mu sync.Mutex
	var wait time.Duration
	set := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		wait = d
	}
	c := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Limit: func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return wait
	}}, `{}`)
	id := c.open()
	done := make(chan jsontext.Value, 1)
	go func() { done <- c.must("session/prompt", prompt(id, "ask")) }()
	c.request(0)
	set(1500 * time.Millisecond)
	_, err := c.call("session/list", `{}`)
	var e *acp.Error
	if !errors.As(err, &e) || e.Code != -32005 || string(e.Data) != `{"reason":"RATE_LIMITED","retryAfterMs":1500}` || !strings.Contains(e.Message, "1.5s") {
		t.Errorf("the error is %v, %s", err, e.Data)
	}
	if err := c.conn.Notify(t.Context(), "session/cancel", jsontext.Value(`{"sessionId":"`+id+`"}`)); err != nil {
		t.Fatal(err)
	}
	if got := <-done; !strings.Contains(string(got), "cancelled") {
		t.Errorf("the turn ended with %s", got)
	}
	set(0)
	c.must("session/list", `{}`)
}
