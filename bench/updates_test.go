package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// talker is a driver that says one update of 200 bytes again and again.
type talker struct {
	sink session.Sink
	body jsontext.Value
	n    int // updates a turn
}

func (t *talker) Open(_ context.Context, req session.OpenRequest) (session.Handle, error) {
	body := fmt.Sprintf(`{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`, req.Info.ID)
	body += strings.Repeat("x", 200-len(body)-len(`"}}}`)) + `"}}}`
	return &talker{sink: req.Sink, body: jsontext.Value(body), n: t.n}, nil
}

func (t *talker) Setup() session.Setup { return session.Setup{} }

func (t *talker) Prompt(ctx context.Context, turn session.Turn) (session.TurnEnd, error) {
	for range t.n {
		if err := t.sink.Emit(ctx, session.Draft{Kind: session.KindAgentMessage, Retention: session.History, Version: 1, Body: t.body}); err != nil {
			return session.TurnEnd{}, err
		}
	}
	return session.TurnEnd{Turn: turn.ID, Stop: session.EndTurn}, nil
}

func (*talker) Steer(context.Context, session.Turn) error { return session.ErrUnsupported }

func (*talker) Set(context.Context, string, string, string) (session.Setup, error) {
	return session.Setup{}, session.ErrUnsupported
}

func (*talker) Close(context.Context) error { return nil }

// oneAgent is the agent of every session.
type oneAgent struct{ cwd string }

func (a oneAgent) agent() serve.Agent                          { return serve.Agent{Alias: "main", Workspace: a.cwd} }
func (a oneAgent) Resolve(string, string) (serve.Agent, error) { return a.agent(), nil }
func (a oneAgent) Rebind(string) (serve.Agent, error)          { return a.agent(), nil }
func (a oneAgent) Default(string) (serve.Agent, bool)          { return a.agent(), true }

// openDoor lets everyone in.
type openDoor struct{}

func (openDoor) Methods(bool) []serve.AuthMethod            { return nil }
func (openDoor) Authenticate(context.Context, string) error { return nil }
func (openDoor) Logout(context.Context) error               { return nil }

// onSocket serves WebSockets by what serve does with them, and returns its address.
func onSocket(b *testing.B, serve func(c *ws.Conn)) string {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := ws.Accept(w, r, ws.AcceptOptions{}); err == nil {
			defer c.Close()
			serve(c)
		}
	}))
	b.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return "ws" + strings.TrimPrefix(server.URL, "http")
}

// BenchmarkGatewayUpdates is updates of 200 bytes from a driver through a ledger
// on disk to a WebSocket client, against the same bytes written to such a client
// one by one by nobody but the transport. Processor time is that of the whole process, the
// client's included.
func BenchmarkGatewayUpdates(b *testing.B) {
	const updates = 50_000
	h := newHome(b)
	store := openStore(b, h.dir)
	b.Cleanup(func() { store.end(b) })
	driver := &talker{n: updates}
	sessions := hub.New(hub.Options{
		Ledger: store, Drivers: func(string) (session.Driver, error) { return driver, nil }, Logger: slog.New(slog.DiscardHandler),
		Limits: hub.Limits{Sessions: 10},
	})
	server := serve.New(serve.Options{Hub: sessions, Agents: oneAgent{h.cwd}, Auth: openDoor{}, Persistent: true, Logger: slog.New(slog.DiscardHandler)})
	s := dial(b, onSocket(b, func(c *ws.Conn) {
		_ = server.Serve(context.Background(), c, serve.ConnOptions{Owner: "local", Role: session.Approver})
	}))
	b.Cleanup(func() { s.close(); _ = sessions.Drain(context.Background()) })
	s.initialize()
	id := s.session(h)

	floor := dial(b, onSocket(b, pump(updates)))
	b.Cleanup(floor.close)
	var ours, base time.Duration
	var mallocs, bare uint64
	for b.Loop() {
		s.seen = 0
		before := allocations()
		ours += busy(func() {
			s.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, id))
		})
		mallocs += allocations() - before
		if s.seen < updates {
			b.Fatalf("%d updates came, want %d", s.seen, updates)
		}
		untimed(b, func() {
			before := allocations()
			base += busy(func() {
				floor.send("go", "{}")
				for range updates {
					if _, err := floor.next(); err != nil {
						b.Fatal(err)
					}
				}
			})
			bare += allocations() - before
		})
	}
	n := float64(b.N * updates)
	b.ReportMetric(n/ours.Seconds(), "updates/s/core")
	b.ReportMetric(us(ours)/n, "cpu-us/update")
	b.ReportMetric(us(base)/n, "base-cpu-us/update")
	b.ReportMetric(float64(ours)/float64(base), "x-base")
	b.ReportMetric((float64(mallocs)-float64(bare))/n, "allocs/update") // beyond the transport's and the client's
}

// pump writes n messages of 200 bytes for each one it reads, each as it comes.
func pump(n int) func(c *ws.Conn) {
	msg := jsontext.Value(`{"jsonrpc":"2.0","method":"session/update","params":"` + strings.Repeat("x", 145) + `"}`)
	return func(c *ws.Conn) {
		ctx := context.Background()
		for {
			if _, err := c.ReadMessage(ctx); err != nil {
				return
			}
			for range n {
				if err := c.WriteMessage(ctx, msg); err != nil {
					return
				}
			}
		}
	}
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// busy is the processor time the process spends while f runs.
func busy(f func()) time.Duration {
	before := processTime()
	f()
	return processTime() - before
}
