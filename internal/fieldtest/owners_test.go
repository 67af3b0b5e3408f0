package fieldtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestRoleAndScopeOfAToken: a token bounds what its client may be and whom it may
// use, whatever the client asks for.
func TestRoleAndScopeOfAToken(t *testing.T) {
	w := NewWorld(t, "[agents.other]", `provider = "fake"`)
	g := w.Gateway()
	owner := g.Connect(Dial{Query: "agent=main"})
	owner.Init()
	s := owner.New()

	watcher := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("watcher", "--owner", "local", "--role", "observer")})
	watcher.Init()
	watcher.Must("session/load", object{"sessionId": s, "cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"grapnel": object{"role": "approver"}}}, nil)
	for _, call := range []struct {
		method string
		params object
	}{
		{"session/prompt", PromptParams(s, "D:SAY hi")},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}},
		{"session/set_mode", object{"sessionId": s, "modeId": "plan"}},
		{"session/delete", object{"sessionId": s}},
		{"session/close", object{"sessionId": s}},
		{"_grapnel/session/share", object{"sessionId": s, "owner": "watcher", "role": "approver"}},
	} {
		if m := watcher.Call(call.method, call.params); m.Error == nil {
			t.Errorf("an observer may %s", call.method)
		}
	}
	id := owner.BeginPrompt(s, "D:TOOL shell mkdir -p d")
	p := owner.AwaitPermission(0)
	watcher.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": p.Option("allow_once")}})
	watcher.Must("session/list", object{}, nil)
	owner.Choose(p, "reject_once")
	owner.Response(id)
	if hasUpdate(owner.Updates(s, 0), func(u Update) bool { return u.Status == "completed" }) {
		t.Error("the observer's answer counted")
	}

	scoped := g.Connect(Dial{Anonymous: true, Query: "agent=main&token=" + w.token("scoped", "--owner", "local", "--scope", "other")})
	scoped.Init()
	if m := scoped.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"agentAlias": "main"}}); m.Error == nil {
		t.Errorf("a session of an agent out of scope: %s", m.Result)
	}
	if m := scoped.Call("session/load", w.LoadParams(s)); m.Error == nil {
		t.Error("a session of an agent out of scope is loaded")
	}
	if m := scoped.Call("session/list", object{}); strings.Contains(string(m.Result), s) {
		t.Error("a session of an agent out of scope is listed")
	}
}

// TestCeilingOfAnOwner: full autonomy of the agent is not that of every owner.
func TestCeilingOfAnOwner(t *testing.T) {
	w := NewWorld(t, `autonomy.level = "full"`, `owners.trusted.ceiling = "full"`, `owners.guest.ceiling = "readonly"`)
	g := w.Gateway()
	for _, tt := range []struct {
		owner string
		want  string // what becomes of a command that needs approval at level supervised
	}{
		{"trusted", "runs"}, {"ci", "asks"}, {"guest", "fails"},
	} {
		c := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token(tt.owner)})
		c.Init()
		s := c.New()
		id := c.BeginPrompt(s, "D:TOOL shell mkdir -p d")
		m := c.Await(0, "a question or the end", func(m Message) bool {
			return m.Method == "session/request_permission" || string(m.ID) == id && m.Method == ""
		})
		got := "fails"
		switch {
		case m.Method != "":
			got = "asks"
		case hasUpdate(c.Updates(s, 0), func(u Update) bool { return u.Status == "completed" }):
			got = "runs"
		}
		if got != tt.want {
			t.Errorf("for %s it %s; want %s", tt.owner, got, tt.want)
		}
	}
}

// TestLimitsOfAnOwner: connections and messages are counted per owner.
func TestLimitsOfAnOwner(t *testing.T) {
	w := NewWorld(t, "gateway.limits.connections = 2", "gateway.limits.requests_per_minute = 20")
	g := w.Gateway()
	query := "token=" + w.token("busy")
	a := g.Connect(Dial{Anonymous: true, Query: query})
	b := g.Connect(Dial{Anonymous: true, Query: query})
	if _, resp, err := g.TryConnect(Dial{Anonymous: true, Query: query}); err == nil || resp == nil || resp.StatusCode != 429 {
		t.Errorf("a third connection: %v, %v", resp, err)
	}
	other := g.Connect(Dial{})
	other.Init()
	a.Init()
	b.Init()
	refused := 0
	for range 30 {
		if m := a.Call("session/list", object{}); m.Error != nil {
			refused++
			if m.Error.Code != -32005 || !strings.Contains(string(m.Error.Data), "retryAfterMs") {
				t.Fatalf("over the rate: %+v", m.Error)
			}
		}
	}
	if refused < 10 || refused > 13 {
		t.Errorf("%d of 30 requests were refused", refused)
	}
	if m := b.Call("session/list", object{}); m.Error == nil {
		t.Error("another connection of the owner has a rate of its own")
	}
	other.Must("session/list", object{}, nil)
	b.Hangup()
	<-b.Ended
	waitFor(t, "room for a connection", func() bool {
		c, _, err := g.TryConnect(Dial{Anonymous: true, Query: query})
		if err == nil {
			c.Drop()
		}
		return err == nil
	})
}

// TestZ7HTTPConnections: the id of another's HTTP connection is as good as none,
// also for a credential of the same owner that may do less.
func TestZ7HTTPConnections(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	alice, bob := w.token("alice"), w.token("bob")
	watcher := w.token("watcher", "--owner", "alice", "--role", "observer")
	second := w.token("second", "--owner", "alice")
	post := func(token, id, body string) (int, string, string) {
		req, err := http.NewRequest(http.MethodPost, g.URL+"/acp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		if id != "" {
			req.Header.Set("Acp-Connection-Id", id)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header.Get("Acp-Connection-Id"), string(text)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	list := Request("2", "session/list", object{})
	status, id, text := post(alice, "", Request("1", "initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}))
	if status != 200 || id == "" {
		t.Fatalf("initialize: %d %s", status, text)
	}
	none, _, noneText := post(bob, strings.Repeat("0", len(id)), list)
	for name, token := range map[string]string{"another owner": bob, "a lesser credential": watcher} {
		if status, _, text := post(token, id, list); status != 404 || status != none || text != noneText {
			t.Errorf("%s gets %d %s; for no connection %d %s", name, status, text, none, noneText)
		}
	}
	if status, _, text := post(second, id, list); status != 202 {
		t.Errorf("another token of the same authority gets %d %s", status, text)
	}
	w.grapnel("", "gateway", "token", "revoke", "alice")
	if status, _, _ := post(alice, id, list); status != 401 {
		t.Errorf("a revoked token gets %d", status)
	}
	waitFor(t, "the connection to end with its token", func() bool {
		status, _, _ := post(second, id, list)
		return status == 404
	})
}

// TestZ7OwnersAreApart: with one credential, every method about a session of
// another owner is answered as for an id that was never given out, to the byte;
// the owner's turn, question and transcript are as if nothing had been.
func TestZ7OwnersAreApart(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("alice")})
	b := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("bob")})
	a.Init()
	b.Init()
	s := a.New()
	a.Must("_grapnel/session/label", object{"sessionId": s, "label": "the " + s}, nil)
	turn := a.BeginPrompt(s, "D:SAY unheard of ; D:TOOL shell mkdir -p d")
	p := a.AwaitPermission(0)
	before := b.everythingListed()
	for _, call := range foreignCalls(w) {
		random := "s_" + strings.Repeat("a", len(s)-2)
		if got, want := b.probe(call, s), b.probe(call, random); got != want {
			t.Errorf("%s answers\n%s\nfor another's session, and for none\n%s", call.method, got, want)
		}
	}
	b.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": p.Option("allow_once")}})
	if after := b.everythingListed(); after != before || strings.Contains(after, s) || strings.Contains(after, "unheard") {
		t.Errorf("bob's lists were %s and are %s", before, after)
	}
	if hasUpdate(a.Updates(s, 0), func(u Update) bool { return u.Status == "completed" || u.Status == "failed" }) {
		t.Error("bob's answer counted")
	}
	a.Choose(p, "allow_once")
	defer func() {
		if log := w.grapnel("", "audit", "export", "--session", s); !strings.Contains(log, `"by":"person alice `) {
			t.Errorf("who allowed it is not on record:\n%s", log)
		}
	}()
	if reason := a.Response(turn).StopReason(); reason != "end_turn" {
		t.Errorf("alice's turn ended with %s", reason)
	}
	for _, m := range b.Messages() {
		if m.Method != "" {
			t.Errorf("bob is told %s %s", m.Method, m.Params)
		}
	}
	again := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("alice2", "--owner", "alice")})
	again.Init()
	again.Must("session/load", w.LoadParams(s), nil)
	if said := again.Said(s, 0); !strings.Contains(said, "unheard of") {
		t.Errorf("another token of alice is told %q", said)
	}
	local := g.Connect(Dial{})
	local.Init()
	if m := local.Call("session/load", w.LoadParams(s)); m.Error == nil {
		t.Error("the owner of this machine has alice's session over the network")
	}
}

type foreignCall struct {
	method string
	params object // ID stands for the session's id
}

// foreignCalls is every method there is about a session.
func foreignCalls(w *World) []foreignCall {
	of := func(more object) object {
		p := object{"sessionId": "ID"}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	cwd := object{"cwd": w.Cwd, "mcpServers": []any{}}
	text := object{"prompt": []object{{"type": "text", "text": "D:SAY hi"}}}
	return []foreignCall{
		{"session/load", of(cwd)},
		{"session/resume", of(cwd)},
		{"session/resume", of(object{"cwd": w.Cwd, "_meta": object{"grapnel": object{"after": 1, "role": "observer"}}})},
		{"session/fork", of(cwd)},
		{"session/prompt", of(text)},
		{"_session/steering", of(text)},
		{"session/cancel", of(nil)},
		{"session/set_mode", of(object{"modeId": "full"})},
		{"session/set_model", of(object{"modelId": "fake-model"})},
		{"session/set_config_option", of(object{"configId": "mode", "value": "full"})},
		{"_grapnel/session/revoke", of(object{"grants": []string{"x"}})},
		{"_grapnel/session/share", of(object{"owner": "bob", "role": "approver"})},
		{"_grapnel/session/label", of(object{"label": "mine"})},
		{"session/set_title", of(object{"title": "mine"})},
		{"session/archive", of(nil)},
		{"session/unarchive", of(nil)},
		{"session/status", of(nil)},
		{"session/update", of(object{"update": object{"sessionUpdate": "plan", "entries": []any{}}})},
		{"session/event", of(object{"event": object{"type": "x"}})},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"sessionLabel": "the ID"}}},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"sessionKey": "agent:main:acp:ID", "requireExisting": true}}},
		{"session/stop", of(nil)},
		{"session/close", of(nil)},
		{"session/delete", of(nil)},
	}
}

// probe makes a call about a session and returns the answer's bytes, with ID for
// the session's id and N for the request's.
func (c *Client) probe(call foreignCall, id string) string {
	c.t.Helper()
	n := c.Begin(call.method, json.RawMessage(strings.ReplaceAll(encode(call.params), "ID", id)))
	m := c.Response(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.NewReplacer(id, "ID", fmt.Sprintf(`"id":%s`, n), `"id":N`).Replace(c.raw[m.Line])
}

// everythingListed is what a client can list and find.
func (c *Client) everythingListed() string {
	c.t.Helper()
	list := c.Call("session/list", object{"archived": "include"})
	found := c.Call("_grapnel/session/search", object{"text": "unheard", "archived": "include"})
	return string(list.Result) + string(found.Result)
}
