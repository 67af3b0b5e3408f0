package serve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// agents are three agents, of which one is not enabled.
type agents struct{ workspace string }

func (a agents) Resolve(alias, connectionDefault string) (serve.Agent, error) {
	switch alias {
	case "":
		if connectionDefault != "" {
			return a.Resolve(connectionDefault, "")
		}
		return a.Resolve("main", "")
	case "main", "design":
		return serve.Agent{Alias: alias, Workspace: a.workspace, Model: "m"}, nil
	}
	return serve.Agent{}, session.Invalidf("agent %q is not configured; choose one of design, main", alias)
}
func (a agents) Rebind(stored string) (serve.Agent, error) { return a.Resolve(stored, "") }
func (a agents) Default(d string) (serve.Agent, bool) {
	agent, err := a.Resolve("", d)
	return agent, err == nil
}

// withAgents is a house of several agents.
func withAgents(t *testing.T) *house {
	h := newHouse(t)
	h.on(memory.New(), serve.Options{Persistent: true, Agents: agents{h.dir}})
	return h
}

// named asks for a session by members of _meta and returns its id, or the error.
func (c *client) named(meta string) (string, error) {
	c.h.Helper()
	v, err := c.call("session/new", `{"cwd":"`+c.h.dir+`","mcpServers":[],"_meta":{`+meta+`}}`)
	var r struct {
		SessionID string `json:"sessionId"`
	}
	if err == nil {
		err = json.Unmarshal(v, &r)
	}
	return r.SessionID, err
}

func (c *client) mustName(meta string) string {
	c.h.Helper()
	id, err := c.named(meta)
	if err != nil {
		c.h.Fatalf("session/new with %s: %v", meta, err)
	}
	return id
}

// rows lists sessions by id.
func (c *client) rows(params string) map[string]map[string]any {
	c.h.Helper()
	var r struct {
		Sessions []struct {
			SessionID string         `json:"sessionId"`
			Meta      map[string]any `json:"_meta"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(c.must("session/list", params), &r); err != nil {
		c.h.Fatal(err)
	}
	rows := map[string]map[string]any{}
	for _, s := range r.Sessions {
		rows[s.SessionID] = s.Meta
	}
	return rows
}

func codeOf(err error) acp.ErrorCode {
	var e *acp.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code
}

func TestSessionKeys(t *testing.T) {
	h := withAgents(t)
	a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.mustName(`"sessionKey":"agent:design:main"`)
	a.must("session/prompt", prompt(id, "say hello"))
	if again := b.mustName(`"sessionKey":"agent:design:main","requireExisting":true`); again != id {
		t.Errorf("the key names %s for one and %s for another", id, again)
	}
	if b.saw("agent_message_chunk") {
		t.Error("a session chosen by its key was replayed")
	}
	a.must("session/prompt", prompt(id, "say more"))
	b.until("agent_message_chunk", "more")
	if again := a.mustName(`"sessionKey":"agent:design:main"`); again != id {
		t.Errorf("asked again, %s", again)
	}
	a.must("session/prompt", prompt(id, "say once"))
	if n := a.count(0, "agent_message_chunk", "once"); n != 1 {
		t.Errorf("a client that chose its session twice heard it %d times", n)
	}
	own := a.open()
	rows := a.rows(`{}`)
	want := map[string]any{
		"sessionKey": "agent:design:main", "kind": "acp", "agent": "design", "channel": "acp", "state": "idle", "owner": "local", "role": "approver",
	}
	if d := cmp.Diff(want, rows[id]); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	key, _ := rows[own]["sessionKey"].(string)
	if !strings.HasPrefix(key, "agent:main:acp:") {
		t.Errorf("a session that nobody named has the key %q", key)
	}
	if got := b.mustName(`"sessionKey":"` + key + `"`); got != own {
		t.Errorf("%s names %s", key, got)
	}
	if plain := a.mustName(`"sessionKey":"review"`); a.rows(`{}`)[plain]["agent"] != "main" {
		t.Error("a key without an agent is not the default agent's")
	}
}

func TestRefusedNames(t *testing.T) {
	h := withAgents(t)
	a := h.connect(session.Approver, `{}`)
	two := []string{a.open(), a.open()}
	for _, id := range two {
		a.must("_grapnel/session/label", `{"sessionId":"`+id+`","label":"twice"}`)
	}
	known := a.mustName(`"sessionKey":"agent:main:known"`)
	for meta, want := range map[string]acp.ErrorCode{
		`"sessionKey":"agent:nobody:x"`:                                          acp.CodeInvalidParams,
		`"sessionKey":"agent:main"`:                                              acp.CodeInvalidParams,
		`"sessionKey":"a\u0000b"`:                                                acp.CodeInvalidParams,
		`"sessionKey":7`:                                                         acp.CodeInvalidParams,
		`"sessionLabel":true`:                                                    acp.CodeInvalidParams,
		`"resetSession":"yes"`:                                                   acp.CodeInvalidParams,
		`"requireExisting":true`:                                                 acp.CodeInvalidParams,
		`"sessionKey":"agent:main:k","agentAlias":"design"`:                      acp.CodeInvalidParams,
		`"sessionKey":"agent:main:known","agentAlias":"design"`:                  acp.CodeInvalidParams,
		`"sessionKey":"agent:main:none","requireExisting":true`:                  acp.CodeResourceNotFound,
		`"sessionKey":"agent:main:n","requireExisting":true,"resetSession":true`: acp.CodeResourceNotFound,
		`"sessionLabel":"nobody's"`:                                              acp.CodeResourceNotFound,
		`"sessionLabel":"twice"`:                                                 acp.CodeInvalidParams,
		`"sessionLabel":"nobody's","sessionKey":"agent:main:known"`:              acp.CodeResourceNotFound,
		`"sessionKey":"agent:main:known","grapnel":{"role":"owner"}`:             acp.CodeInvalidParams,
		`"sessionKey":"agent:main:known","grapnel":{"role":1}`:                   acp.CodeInvalidParams,
		`"sessionKey":"` + strings.Repeat("k", 201) + `"`:                        acp.CodeInvalidParams,
	} {
		if id, err := a.named(meta); codeOf(err) != want {
			t.Errorf("%s: %s, %v, want %d", meta, id, err, want)
		}
	}
	if rows := a.rows(`{}`); len(rows) != 3 || rows[known] == nil {
		t.Errorf("refusals left %v", rows)
	}
}

func TestPrecedenceOfNames(t *testing.T) {
	h := withAgents(t)
	a := h.connect(session.Approver, `{}`)
	ids := map[string]string{}
	for _, name := range []string{"meta-label", "meta-key", "flag-label", "flag-key"} {
		ids[name] = a.mustName(`"sessionKey":"` + name + `"`)
		a.must("_grapnel/session/label", `{"sessionId":"`+ids[name]+`","label":"`+name+`"}`)
	}
	flags := serve.ConnOptions{Owner: "local", Role: session.Approver, Local: true, SessionLabel: "flag-label", SessionKey: "flag-key"}
	keyOnly := flags
	keyOnly.SessionLabel = ""
	for _, c := range []struct {
		o          serve.ConnOptions
		meta, want string
	}{
		{flags, `"sessionLabel":"meta-label","sessionKey":"meta-key"`, "meta-label"},
		{flags, `"sessionKey":"meta-key"`, "meta-key"},
		{flags, `"sessionKey":""`, "flag-label"},
		{flags, ``, "flag-label"},
		{keyOnly, ``, "flag-key"},
	} {
		if got := h.connectAs(c.o, `{}`).mustName(c.meta); got != ids[c.want] {
			t.Errorf("%s beside the options %s, %s: not that of %s", c.meta, c.o.SessionLabel, c.o.SessionKey, c.want)
		}
	}
	unknown := flags
	unknown.SessionLabel = "unknown"
	if _, err := h.connectAs(unknown, `{}`).named(``); codeOf(err) != acp.CodeResourceNotFound {
		t.Errorf("an unknown label: %v", err)
	}
	must := serve.ConnOptions{Owner: "local", Role: session.Approver, SessionKey: "agent:main:none", RequireExisting: true}
	if _, err := h.connectAs(must, `{}`).named(``); codeOf(err) != acp.CodeResourceNotFound {
		t.Errorf("a key that must exist: %v", err)
	}
}

func TestResetSession(t *testing.T) {
	h := withAgents(t)
	a := h.connect(session.Approver, `{}`)
	first := a.mustName(`"sessionKey":"agent:design:k"`)
	a.must("session/prompt", prompt(first, "say hello"))
	b := h.connectAs(serve.ConnOptions{
		Owner: "local", Role: session.Approver, Local: true, SessionKey: "agent:design:k", ResetSession: true,
	}, `{}`)
	second := b.mustName(``)
	if second == first {
		t.Fatal("not reset")
	}
	if again := b.mustName(``); again != second {
		t.Errorf("the options reset it twice: %s, then %s", second, again)
	}
	if now := a.mustName(`"sessionKey":"agent:design:k"`); now != second {
		t.Errorf("the key names %s, want %s", now, second)
	}
	a.until(first, "session_info_update", `"agent":"design"`)
	third := a.mustName(`"sessionKey":"agent:design:k","resetSession":true`)
	rows := a.rows(`{}`)
	if third == second || rows[third]["sessionKey"] != "agent:design:k" || rows[first]["sessionKey"] != nil || rows[third]["agent"] != "design" {
		t.Errorf("reset by its request: %v", rows)
	}
	a.must("session/prompt", prompt(first, "say the old one goes on"))
	if fresh := a.mustName(`"sessionKey":"agent:main:unheard","resetSession":true`); fresh == "" {
		t.Error("reset of a key that is not there makes it")
	}
}

func TestManyChooseOneKey(t *testing.T) {
	h := withAgents(t)
	const clients = 6
	var wg sync.WaitGroup
	ids := make([]string, clients)
	for i := range clients {
		c := h.connect(session.Approver, `{}`)
		wg.Go(func() {
			id, err := c.named(`"sessionKey":"agent:main:one"`)
			if ids[i] = id; err != nil {
				ids[i] = err.Error()
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || !strings.HasPrefix(id, "s_") {
			t.Fatalf("one key, several answers: %v", ids)
		}
	}
}

func TestKeyOfAnArchivedSession(t *testing.T) {
	h := withAgents(t)
	a := h.connect(session.Approver, `{}`)
	id := a.mustName(`"sessionKey":"agent:main:k"`)
	a.must("session/archive", `{"sessionId":"`+id+`"}`)
	if got := a.mustName(`"sessionKey":"agent:main:k"`); got != id {
		t.Errorf("the key names %s, want %s", got, id)
	}
	if a.rows(`{}`)[id] == nil {
		t.Error("a session that is used again is still archived")
	}
	a.must("session/delete", `{"sessionId":"`+id+`"}`)
	if got := a.mustName(`"sessionKey":"agent:main:k"`); got == id {
		t.Error("the key names a deleted session")
	}
}

// TestKeyElsewhere: a key whose session is active in another process is one there.
func TestKeyElsewhere(t *testing.T) {
	first, second, _ := twoHouses(t)
	a := first.connect(session.Approver, `{}`)
	id := a.mustName(`"sessionKey":"agent:main:k"`)
	b := second.connect(session.Approver, `{}`)
	for range 2 {
		if got := b.mustName(`"sessionKey":"agent:main:k"`); got != id {
			t.Fatalf("the key names %s there, want %s", got, id)
		}
	}
	b.must("session/prompt", prompt(id, "say hello"))
	a.until("user_message_chunk", "say hello")
	if n := b.count(0, "agent_message_chunk", "hello"); n != 1 {
		t.Errorf("heard %d times", n)
	}
}

// TestRolesGoWithARelay: who connects through another process has no other rights
// there.
func TestRolesGoWithARelay(t *testing.T) {
	first, second, _ := twoHouses(t)
	id := first.connect(session.Approver, `{}`).open()
	load := `{"sessionId":"` + id + `","cwd":"` + first.dir + `","mcpServers":[]}`
	o := second.connectAs(serve.ConnOptions{Owner: "local", Role: session.Observer}, `{}`)
	o.must("session/load", load)
	if _, err := o.call("session/prompt", prompt(id, "say no")); err == nil || !strings.Contains(err.Error(), "role") {
		t.Errorf("an observer prompts through another process: %v", err)
	}
	eve := second.connectAs(serve.ConnOptions{Owner: "eve", Role: session.Approver}, `{}`)
	if code := eve.code("session/load", load); code != acp.CodeResourceNotFound {
		t.Errorf("somebody else: %d", code)
	}
	forged := `{"_meta":{"grapnel":{"onBehalf":{"owner":"local","role":"approver","local":true}}}}`
	forger := first.connectAs(serve.ConnOptions{Owner: "eve", Role: session.Approver}, forged)
	if code := forger.code("session/load", load); code != acp.CodeResourceNotFound {
		t.Errorf("a client that says it is another: %d", code)
	}
}

func TestChosenAtTheGateway(t *testing.T) {
	ledger := memory.New()
	gateway, here := newHouse(t), newHouse(t)
	gateway.on(ledger, serve.Options{Persistent: true, Agents: agents{gateway.dir}})
	d := &door{h: gateway}
	lives := true
	here.on(&elsewhere{Ledger: ledger}, serve.Options{
		Persistent: true, Relay: d, Agents: agents{gateway.dir}, Home: func() (string, bool) { return "socket", lives },
	})
	here.dir = gateway.dir
	c := here.connectAs(serve.ConnOptions{
		Owner: "local", Role: session.Approver, Local: true, SessionKey: "agent:design:main", ResetSession: true,
	}, `{}`)
	id := c.mustName(``)
	if again := c.mustName(``); again != id {
		t.Errorf("%s, then %s", id, again)
	}
	c.must("session/prompt", prompt(id, "say hello"))
	if n := c.count(0, "agent_message_chunk", "hello"); n != 1 {
		t.Errorf("heard %d times", n)
	}
	if n := d.dials.Load(); n != 1 {
		t.Errorf("%d connections to the gateway", n)
	}
	if s, err := gateway.hub.Status(t.Context(), id); err != nil || !s.Active {
		t.Errorf("the session is not the gateway's: %+v, %v", s, err)
	}
	lives = false
	other := here.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, SessionKey: "agent:design:other"}, `{}`)
	if s, err := here.hub.Status(t.Context(), other.mustName(``)); err != nil || !s.Active {
		t.Errorf("without a gateway the session is not here: %+v, %v", s, err)
	}
}

// brief is a gateway that takes a connection and goes away.
type brief struct{ dials atomic.Int32 }

func (b *brief) Dial(ctx context.Context, _ string) (acp.MessageConn, error) {
	b.dials.Add(1)
	near, far := acp.NewPipe()
	go func() {
		if _, err := far.ReadMessage(ctx); err == nil {
			_ = far.WriteMessage(ctx, jsontext.Value(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`))
		}
		_ = far.Close()
	}()
	return near, nil
}

// TestGatewayThatGoesAwayIsForgotten: it is looked for anew, however soon it
// went. A request may still meet a connection that is just ending.
func TestGatewayThatGoesAwayIsForgotten(t *testing.T) {
	here, gone := newHouse(t), &brief{}
	here.on(memory.New(), serve.Options{
		Persistent: true, Relay: gone, Agents: agents{here.dir}, Home: func() (string, bool) { return "socket", true },
	})
	c := here.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Local: true, SessionKey: "agent:design:main"}, `{}`)
	for end := time.Now().Add(patience); gone.dials.Load() < 100; {
		if _, err := c.named(``); err == nil {
			t.Fatal("a session was made by nobody")
		}
		if time.Now().After(end) {
			t.Fatalf("only %d connections were made", gone.dials.Load())
		}
	}
}

func TestScope(t *testing.T) {
	h := withAgents(t)
	all := h.connect(session.Approver, `{}`)
	mine, hidden := all.mustName(`"sessionKey":"agent:design:k"`), all.mustName(`"sessionKey":"agent:main:k"`)
	plain := all.mustName(`"sessionKey":"plain"`)
	all.must("session/prompt", prompt(hidden, "say findme"))
	c := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Agents: []string{"design", "other"}}, `{}`)

	refused := func(alias string) string {
		_, err := c.call("session/new", `{"cwd":"`+h.dir+`","mcpServers":[],"_meta":{"agentAlias":"`+alias+`"}}`)
		return strings.ReplaceAll(fmt.Sprint(err), alias, "X")
	}
	if out, unknown := refused("main"), refused("nobody"); out != unknown || strings.Contains(out, "main") {
		t.Errorf("out of scope: %s; unknown: %s", out, unknown)
	}
	for _, method := range []string{"session/load", "session/resume", "session/close", "session/status", "session/set_title", "session/fork", "_grapnel/session/share"} {
		say := func(id string) string {
			_, err := c.call(method, `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[],"title":"x","owner":"bob","role":"observer"}`)
			return strings.ReplaceAll(fmt.Sprint(err), id, "X")
		}
		if there, not := say(hidden), say("s_none"); there != not || there == "<nil>" {
			t.Errorf("%s: %s; unknown: %s", method, there, not)
		}
	}
	if rows := c.rows(`{}`); len(rows) != 1 || rows[mine] == nil {
		t.Errorf("in scope: %v", rows)
	}
	if got := string(c.must("_grapnel/session/search", `{"text":"findme"}`)); strings.Contains(got, hidden) {
		t.Errorf("found %s", got)
	}
	if _, err := c.named(`"sessionKey":"plain"`); err == nil || strings.Contains(err.Error(), plain) {
		t.Errorf("the key of a session out of scope: %v", err)
	}
	if id, err := c.call("session/new", `{"cwd":"`+h.dir+`","mcpServers":[]}`); err == nil {
		t.Errorf("a default out of scope: %s", id)
	}
	one := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Agents: []string{"design"}}, `{}`)
	if id := one.open(); one.rows(`{}`)[id]["agent"] != "design" {
		t.Error("the only agent of the scope is not its default")
	}
}
