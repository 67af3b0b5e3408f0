package serve_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds a wait for the server, which answers in microseconds.
const patience = 20 * time.Second

// house is a server on a hub with a scripted driver.
type house struct {
	*testing.T
	script *sessiontest.Script
	hub    *hub.Hub
	server *serve.Server
	dir    string
	driver session.Driver // instead of the script, if set
	drain  time.Duration
}

func newHouse(t *testing.T) *house {
	h := &house{T: t, script: &sessiontest.Script{}, dir: t.TempDir()}
	h.hub = hub.New(hub.Options{
		Ledger:  memory.New(),
		Drivers: func(string) (session.Driver, error) { return h.script, nil },
	})
	t.Cleanup(func() {
		if err := h.hub.Drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	h.server = serve.New(serve.Options{
		Hub: h.hub, Agents: oneAgent{h.dir}, Auth: noAuth{}, Version: "test", Persistent: true, MaxSessions: 10,
	})
	return h
}

type oneAgent struct{ workspace string }

func (o oneAgent) Resolve(alias, connectionDefault string) (serve.Agent, error) {
	if alias != "" && alias != "main" {
		return serve.Agent{}, session.Invalidf("agent %q is not configured; choose one of main", alias)
	}
	return serve.Agent{Alias: "main", Workspace: o.workspace, Model: "m"}, nil
}
func (o oneAgent) Rebind(string) (serve.Agent, error) { return o.Resolve("", "") }
func (o oneAgent) Default(string) (a serve.Agent, ok bool) {
	a, err := o.Resolve("", "")
	return a, err == nil
}

type noAuth struct{}

func (noAuth) Methods(bool) []serve.AuthMethod { return nil }

func (noAuth) Authenticate(context.Context, string) error { return nil }

func (noAuth) Logout(context.Context) error { return nil }

// client is a raw ACP client that keeps what it was sent.
type client struct {
	h    *house
	conn *acp.Conn

	mu    sync.Mutex
	heard sync.Cond
	notes []string // params of session/update
	asked []question
	wire  *wire

	served <-chan struct{} // closed when the server is done with the connection
}

// connect makes a client; dialect clients send no params with initialize.
func (h *house) connect(role session.Role, capabilities string) *client {
	h.Helper()
	return h.connectAs(serve.ConnOptions{Owner: "local", Role: role, Drain: h.drain, Local: true}, capabilities)
}

// connectAs makes a client of what the transport knows of it.
func (h *house) connectAs(o serve.ConnOptions, capabilities string) *client {
	h.Helper()
	near, far := acp.NewPipe()
	served := make(chan struct{})
	c := &client{h: h, served: served, wire: &wire{MessageConn: near}}
	c.heard.L = &c.mu
	c.conn = acp.NewConn(c.wire, c, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.conn.Run(ctx) })
	wg.Go(func() {
		defer close(served)
		_ = h.server.Serve(ctx, far, o)
	})
	h.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	c.must("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`}`)
	return c
}

// question is a request of the server; ctx ends when it is withdrawn.
type question struct {
	*acp.Request
	ctx context.Context
}

func (c *client) HandleRequest(ctx context.Context, req *acp.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, question{req, ctx})
	c.heard.Broadcast()
}

func (c *client) HandleNotification(_ context.Context, n *acp.Notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, n.Method+" "+string(n.Params))
	c.heard.Broadcast()
}

func (c *client) call(method, params string) (jsontext.Value, error) {
	return c.conn.Call(c.h.Context(), method, jsontext.Value(params))
}

func (c *client) must(method, params string) jsontext.Value {
	c.h.Helper()
	v, err := c.call(method, params)
	if err != nil {
		c.h.Fatalf("%s %s: %v", method, params, err)
	}
	return v
}

func (c *client) code(method, params string) acp.ErrorCode {
	c.h.Helper()
	v, err := c.call(method, params)
	var e *acp.Error
	if !errors.As(err, &e) {
		c.h.Fatalf("%s %s: %s, %v", method, params, v, err)
	}
	return e.Code
}

func (c *client) open() string {
	c.h.Helper()
	var r struct {
		SessionID string `json:"sessionId"`
	}
	v := c.must("session/new", `{"cwd":"`+c.h.dir+`","mcpServers":[]}`)
	if err := json.Unmarshal(v, &r); err != nil {
		c.h.Fatal(err)
	}
	return r.SessionID
}

func prompt(id, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"sessionId":"` + id + `","prompt":[{"type":"text","text":` + string(quoted) + `}]}`
}

// until waits for a notification that holds all of the parts.
func (c *client) until(parts ...string) {
	c.h.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for seen := 0; ; c.wait(strings.Join(parts, " and ")) {
		for ; seen < len(c.notes); seen++ {
			if holds(c.notes[seen], parts) {
				return
			}
		}
	}
}

// wait waits for the next thing the server sends; mu is held.
func (c *client) wait(what string) {
	c.h.Helper()
	late := false
	alarm := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.heard.Broadcast()
	})
	defer alarm.Stop()
	c.heard.Wait()
	if late {
		c.h.Fatalf("waited in vain for %s; heard:\n%s", what, strings.Join(c.notes, "\n"))
	}
}

func holds(s string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

// request waits for the nth request of the server.
func (c *client) request(n int) question {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.asked) <= n {
		c.wait("a request")
	}
	return c.asked[n]
}

func (c *client) saw(parts ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		if holds(n, parts) {
			return true
		}
	}
	return false
}

func TestSeveralClientsOneSession(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	b := h.connect(session.Approver, `{}`)
	o := h.connect(session.Observer, `{}`)
	id := a.open()
	for _, c := range []*client{b, o} {
		c.must("session/load", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[]}`)
	}
	a.must("session/prompt", prompt(id, "say hello"))
	for _, c := range []*client{b, o} {
		c.until("user_message_chunk", "say hello")
		c.until("agent_message_chunk", "hello")
	}
	if a.saw("user_message_chunk") {
		t.Error("the sender's words came back")
	}
	if code := o.code("session/prompt", prompt(id, "say no")); code != acp.CodeInternalError {
		t.Errorf("an observer's prompt: %d", code)
	}

	done := make(chan error, 1)
	go func() {
		_, err := a.call("session/prompt", prompt(id, "ask"))
		done <- err
	}()
	ra, rb := a.request(0), b.request(0)
	if ra.ID != rb.ID || !strings.HasPrefix(string(ra.ID.Raw()), `"gp-out-e_`) {
		t.Errorf("the request is %s here and %s there", ra.ID, rb.ID)
	}
	if err := rb.Reply(jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"yes"}}`)); err != nil {
		t.Fatal(err)
	}
	<-ra.ctx.Done() // withdrawn
	if err := ra.Reply(jsontext.Value(`{"outcome":{"outcome":"cancelled"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.asked) > 0 {
		t.Error("an observer was asked")
	}
}

func TestLateClientGetsTheOpenRequest(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	done := make(chan error, 1)
	go func() {
		_, err := a.call("session/prompt", prompt(id, "ask"))
		done <- err
	}()
	first := a.request(0)
	b := h.connect(session.Approver, `{}`)
	b.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`"}`)
	late := b.request(0)
	if late.ID != first.ID {
		t.Errorf("offered again as %s, first %s", late.ID, first.ID)
	}
	if err := late.Reply(jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"no"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = first.Fail(context.Canceled) // withdrawn; nobody waits for it
}

func TestResumeAfterASequenceNumber(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.must("session/prompt", prompt(id, "chunks 5"))
	var last string
	a.mu.Lock()
	for _, n := range a.notes {
		if _, after, ok := strings.Cut(n, `"seq":`); ok && strings.Contains(n, "agent_message_chunk") {
			last, _, _ = strings.Cut(after, "}")
			if strings.Contains(n, `"2`) { // the client drops out after the second
				break
			}
		}
	}
	a.mu.Unlock()
	b := h.connect(session.Approver, `{}`)
	b.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","_meta":{"grapnel":{"after":`+last+`}}}`)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notes {
		if strings.Contains(n, `"seq":`+last+`}`) {
			t.Errorf("what was known came again: %s", n)
		}
	}
}

func TestIdempotencyKey(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	keyed := strings.Replace(prompt(id, "say once"), `"prompt"`, `"_meta":{"grapnel":{"key":"k1"}},"prompt"`, 1)
	for range 3 {
		a.must("session/prompt", keyed)
	}
	if got := len(h.script.Seen()); got != 1 {
		t.Errorf("the driver got the prompt %d times", got)
	}
}

func TestSessionMethods(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.must("session/prompt", prompt(id, "say hello"))
	named := `{"sessionId":"` + id + `"}`
	if got := string(a.must("session/status", named)); got != `{"status":"open"}` {
		t.Errorf("status %s", got)
	}
	if got := string(a.must("session/set_title", `{"sessionId":"`+id+`","title":"  A\n name "}`)); got != `{"title":"A name"}` {
		t.Errorf("set_title %s", got)
	}
	if code := a.code("session/set_title", `{"sessionId":"`+id+`","title":" "}`); code != acp.CodeInvalidParams {
		t.Errorf("an empty title: %d", code)
	}
	forked := string(a.must("session/fork", `{"sessionId":"`+id+`","cwd":"`+h.dir+`"}`))
	if !strings.Contains(forked, `"sessionId":"s_`) || strings.Contains(forked, `"sessionId":"`+id) {
		t.Errorf("fork %s", forked)
	}
	a.must("session/archive", named)
	if got := string(a.must("session/list", `{}`)); strings.Contains(got, `"sessionId":"`+id) {
		t.Errorf("an archived session is listed: %s", got)
	}
	if got := string(a.must("session/list", `{"archived":"only"}`)); !strings.Contains(got, id) || !strings.Contains(got, `"title":"A name"`) {
		t.Errorf("archived: %s", got)
	}
	if code := a.code("session/list", `{"archived":"nonsense"}`); code != acp.CodeInvalidParams {
		t.Errorf("archived nonsense: %d", code)
	}
	if code := a.code("session/list", `{"cursor":"nonsense"}`); code != acp.CodeInvalidParams {
		t.Errorf("bad cursor: %d", code)
	}
	if code := a.code("session/close", named); code != acp.CodeResourceNotFound {
		t.Errorf("close of a session that is not active: %d", code)
	}
	a.must("session/unarchive", named)
	if got := string(a.must("session/status", named)); got != `{"status":"saved"}` {
		t.Errorf("status %s", got)
	}
	a.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`"}`)
	a.must("session/close", named)
	if code := a.code("session/prompt", prompt(id, "say x")); code != acp.CodeResourceNotFound {
		t.Errorf("prompt after close: %d", code)
	}
	for range 2 {
		a.must("session/delete", named)
	}
	if code := a.code("session/load", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[]}`); code != acp.CodeResourceNotFound {
		t.Errorf("load after delete: %d", code)
	}
}

func TestSteering(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	steer := strings.Replace(prompt(id, "say more"), `"prompt"`, `"_meta":{"steering":{"idleBehavior":"promptRequired"}},"prompt"`, 1)
	if got := string(a.must("_session/steering", steer)); got != `{"outcome":"promptRequired"}` {
		t.Errorf("idle: %s", got)
	}
	done := make(chan error, 1)
	go func() {
		_, err := a.call("session/prompt", prompt(id, "say first\nwait here\nsay last"))
		done <- err
	}()
	a.until("agent_message_chunk", "first")
	if got := string(a.must("_session/steering", steer)); got != `{"outcome":"injected"}` {
		t.Errorf("running: %s", got)
	}
	h.script.Go("here")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := string(a.must("_session/steering", prompt(id, "say new"))); got != `{"outcome":"startedNewTurn"}` {
		t.Errorf("idle without a wish: %s", got)
	}
}

func TestSessionLimit(t *testing.T) {
	h := newHouse(t)
	h.hub = hub.New(hub.Options{
		Ledger: memory.New(), Limits: hub.Limits{Sessions: 1},
		Drivers: func(string) (session.Driver, error) { return h.script, nil },
	})
	h.server = serve.New(serve.Options{Hub: h.hub, Agents: oneAgent{h.dir}, Auth: noAuth{}, Persistent: true})
	t.Cleanup(func() { _ = h.hub.Drain(context.Background()) })
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	if code := a.code("session/new", `{"cwd":"`+h.dir+`","mcpServers":[]}`); code != -32001 {
		t.Errorf("one too many: %d", code)
	}
	a.must("session/close", `{"sessionId":"`+id+`"}`)
	a.open()
}
