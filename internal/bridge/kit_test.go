package bridge_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/bridge"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// patience bounds a wait for what takes milliseconds.
const patience = 30 * time.Second

// gate is a gateway with a scripted driver, behind a proxy that breaks
// connections.
type gate struct {
	*testing.T
	script *sessiontest.Script
	hub    *hub.Hub
	dir    string
	proxy  *proxy
	server *serve.Server
}

func newGate(t *testing.T) *gate {
	g := &gate{T: t, script: &sessiontest.Script{}, dir: t.TempDir()}
	g.hub = hub.New(hub.Options{
		Ledger:  memory.New(),
		Drivers: func(string) (session.Driver, error) { return g.script, nil },
		Limits:  hub.Limits{Limits: actor.Limits{Ask: time.Minute, AskGrace: time.Minute}},
	})
	t.Cleanup(func() {
		if err := g.hub.Drain(context.Background()); err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	server := serve.New(serve.Options{
		Hub: g.hub, Agents: oneAgent{g.dir}, Auth: noAuth{}, Version: "test", Persistent: true, MaxSessions: 10,
	})
	g.server = server
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := ws.Accept(w, r, ws.AcceptOptions{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		served.Add(1)
		defer served.Done()
		_ = server.Serve(ctx, c, serve.ConnOptions{Owner: "local", Role: session.Approver, Local: true})
		_ = c.Close()
	}))
	t.Cleanup(func() {
		cancel()
		served.Wait()
		h.Close()
	})
	g.proxy = newProxy(t, h.Listener.Addr().String())
	return g
}

func (g *gate) target(context.Context) (bridge.Target, error) {
	return bridge.Target{URL: "ws://" + g.proxy.addr() + "/acp"}, nil
}

type oneAgent struct{ workspace string }

func (o oneAgent) Resolve(string, string) (serve.Agent, error) {
	return serve.Agent{Alias: "main", Workspace: o.workspace, Model: "m", Image: true}, nil
}
func (o oneAgent) Rebind(string) (serve.Agent, error) { return o.Resolve("", "") }
func (o oneAgent) Default(string) (serve.Agent, bool) {
	a, err := o.Resolve("", "")
	return a, err == nil
}

type noAuth struct{}

func (noAuth) Methods(bool) []serve.AuthMethod            { return nil }
func (noAuth) Authenticate(context.Context, string) error { return nil }
func (noAuth) Logout(context.Context) error               { return nil }

// editor is the client of a bridge; it keeps what it was sent.
type editor struct {
	t     *testing.T
	conn  *acp.Conn
	near  acp.MessageConn
	ended chan error // of the bridge

	mu    sync.Mutex
	heard sync.Cond
	notes []string
	asked []question
}

type question struct {
	*acp.Request
	ctx context.Context
}

// open starts a bridge to the gate and its client.
func (g *gate) open(o bridge.Options) *editor {
	if o.Target == nil {
		o.Target = g.target
	}
	if o.Drain == 0 {
		o.Drain = patience
	}
	return newEditor(g.T, o)
}

func newEditor(t *testing.T, o bridge.Options) *editor {
	near, far := acp.NewPipe()
	e := &editor{t: t, near: near, ended: make(chan error, 1)}
	e.heard.L = &e.mu
	e.conn = acp.NewConn(near, e, nil)
	ctx, cancel := context.WithCancel(context.Background())
	b := bridge.New(far, o)
	var tasks sync.WaitGroup
	tasks.Go(func() { _ = e.conn.Run(ctx) })
	tasks.Go(func() { e.ended <- b.Run(ctx); _ = far.Close() })
	t.Cleanup(func() {
		_ = near.Close()
		cancel()
		tasks.Wait()
	})
	return e
}

func (e *editor) HandleRequest(ctx context.Context, req *acp.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, question{req, ctx})
	e.heard.Broadcast()
}

func (e *editor) HandleNotification(_ context.Context, n *acp.Notification) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notes = append(e.notes, string(n.Params))
	e.heard.Broadcast()
}

func (e *editor) call(method, params string) (jsontext.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return e.conn.Call(ctx, method, jsontext.Value(params))
}

func (e *editor) must(method, params string) jsontext.Value {
	e.t.Helper()
	v, err := e.call(method, params)
	if err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	return v
}

func (e *editor) fails(method, params string) *acp.Error {
	e.t.Helper()
	v, err := e.call(method, params)
	fault := (*acp.Error)(nil)
	if !errors.As(err, &fault) {
		e.t.Fatalf("%s: %s, %v; want an error", method, v, err)
	}
	return fault
}

func (e *editor) hello() { e.must("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`) }

func (e *editor) newSession(dir string) string {
	e.t.Helper()
	return member(e.t, e.must("session/new", `{"cwd":"`+dir+`","mcpServers":[]}`), "sessionId")
}

func member(t *testing.T, v jsontext.Value, name string) string {
	t.Helper()
	var m map[string]jsontext.Value
	var s string
	if json.Unmarshal(v, &m) != nil || json.Unmarshal(m[name], &s) != nil {
		t.Fatalf("%s has no %s", v, name)
	}
	return s
}

func prompt(id, text string) string {
	quoted, _ := json.Marshal(text)
	return `{"sessionId":"` + id + `","prompt":[{"type":"text","text":` + string(quoted) + `}]}`
}

// begin sends a prompt; the channel gets its error.
func (e *editor) begin(id, text string) <-chan error {
	done := make(chan error, 1)
	call, err := e.conn.Go(context.Background(), acp.ID{}, "session/prompt", jsontext.Value(prompt(id, text)))
	if err != nil {
		e.t.Fatal(err)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := call.Wait(ctx)
		done <- err
	}()
	return done
}

// await waits until what the client heard is as the condition wants; mu is held
// when that is asked.
func (e *editor) await(what string, ok func() bool) {
	e.t.Helper()
	late := false
	alarm := time.AfterFunc(patience, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		late = true
		e.heard.Broadcast()
	})
	defer alarm.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for !ok() {
		if late {
			e.t.Fatalf("waited in vain for %s; heard:\n%s", what, strings.Join(e.notes, "\n"))
		}
		e.heard.Wait()
	}
}

func (e *editor) until(part string) {
	e.t.Helper()
	e.await(part, func() bool { return strings.Contains(strings.Join(e.notes, "\n"), part) })
}

// said counts the updates of a session that hold a part.
func (e *editor) said(id, part string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, note := range e.notes {
		if strings.Contains(note, id) && strings.Contains(note, part) {
			n++
		}
	}
	return n
}

func (e *editor) saw(part string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Contains(strings.Join(e.notes, "\n"), part)
}

// request waits for the nth request of the gateway.
func (e *editor) request(n int) question {
	e.t.Helper()
	e.await("a request", func() bool { return len(e.asked) > n })
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked[n]
}

// numbers are the sequence numbers of a session's updates, in their order.
func (e *editor) numbers(id string) []uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []uint64
	for _, n := range e.notes {
		var p struct {
			SessionID string `json:"sessionId"`
			Meta      struct {
				Grapnel struct {
					Seq uint64 `json:"seq"`
				} `json:"grapnel"`
			} `json:"_meta"`
		}
		if strings.Contains(n, "user_message_chunk") {
			continue
		}
		if json.Unmarshal([]byte(n), &p) == nil && p.SessionID == id && p.Meta.Grapnel.Seq != 0 {
			list = append(list, p.Meta.Grapnel.Seq)
		}
	}
	return list
}

// ledger are the numbers that a client gets which comes now and wants all there
// is, by a connection that nothing happens to. Words of the sender, which it is
// not shown itself, are left out of both.
func (g *gate) ledger(id string) []uint64 {
	g.Helper()
	e := g.open(bridge.Options{})
	e.hello()
	e.must("session/load", `{"sessionId":"`+id+`","cwd":"`+g.dir+`","mcpServers":[],"_meta":{"grapnel":{"after":0}}}`)
	return e.numbers(id)
}

// end closes the client's side and returns the bridge's error.
func (e *editor) end() error {
	e.t.Helper()
	if err := e.near.Close(); err != nil {
		e.t.Fatal(err)
	}
	select {
	case err := <-e.ended:
		return err
	case <-time.After(patience):
		e.t.Fatal("the bridge does not end")
		return nil
	}
}
