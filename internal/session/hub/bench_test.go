package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// discard is a ledger that numbers events and keeps none: what is left is the
// cost of the core itself.
type discard struct {
	session.Ledger
	last atomic.Uint64
}

// Read makes up what a reader that fell behind pages through.
func (d *discard) Read(_ context.Context, _ string, after session.Seq, limit int) ([]session.Event, error) {
	body := chunk200().Body
	var events []session.Event
	for seq := after + 1; seq <= session.Seq(d.last.Load()) && len(events) < limit; seq++ {
		events = append(events, session.Event{Seq: seq, Kind: session.KindAgentMessage, Body: body})
	}
	return events, nil
}

func (d *discard) Append(_ context.Context, _ string, _ session.Fence, b session.Batch) (session.Seq, error) {
	return session.Seq(d.last.Add(uint64(len(b.Events)))), nil
}

// running is a session in the middle of a turn.
type running struct {
	hub    *hub.Hub
	att    session.Attachment
	sink   session.Sink
	script *sessiontest.Script
}

func run(b *testing.B, ledger session.Ledger) *running {
	b.Helper()
	r := &running{script: &sessiontest.Script{}}
	r.hub = hub.New(hub.Options{Ledger: ledger, Drivers: func(string) (session.Driver, error) { return r.script, nil }})
	b.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.hub.Drain(ctx); err != nil {
			b.Error(err)
		}
	})
	att, err := r.hub.Create(b.Context(), hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w", Attach: session.AttachRequest{Role: session.Approver}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := att.Prompt(b.Context(), session.PromptRequest{Content: sessiontest.Blocks("wait go")}); err != nil {
		b.Fatal(err)
	}
	r.script.UntilSeen(1)
	r.att, r.sink = att, r.script.Opened()[0].Req.Sink
	return r
}

// chunk200 is an update of 200 bytes.
func chunk200() session.Draft {
	const frame = `{"sessionId":"s_aaaaaaaaaaaaaaaaaaaaaaaaaa","update":{"sessionUpdate":"agent_message_chunk","messageId":"m_1","content":{"type":"text","text":"%s"}}}`
	return session.Draft{Version: 1, Body: jsontext.Value(fmt.Sprintf(frame, strings.Repeat("x", 200-len(frame)+2)))}
}

// fill emits n updates and waits until they are shown.
func (r *running) fill(b *testing.B, n int) {
	b.Helper()
	d := chunk200()
	seen := make(chan error, 1)
	go func() {
		for got := 0; got < n; {
			events, _, err := r.att.Next(context.Background())
			if err != nil {
				seen <- err
				return
			}
			for _, e := range events {
				if e.Kind == session.KindAgentMessage {
					got++
				}
			}
		}
		seen <- nil
	}()
	for range n {
		if err := r.sink.Emit(context.Background(), d); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-seen; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEmitToAttachment streams updates from a driver to one client.
func BenchmarkEmitToAttachment(b *testing.B) {
	ledgers := map[string]func(testing.TB) session.Ledger{
		"core":   func(testing.TB) session.Ledger { return &discard{Ledger: memory.New()} },
		"memory": func(testing.TB) session.Ledger { return memory.New() },
		"sqlite": openSQLite,
	}
	for name, open := range ledgers {
		b.Run(name, func(b *testing.B) {
			r := run(b, open(b))
			b.ReportAllocs()
			b.SetBytes(200)
			b.ResetTimer()
			r.fill(b, b.N)
		})
	}
}

// BenchmarkEmitAfter emits one update at a time in a session that has a past:
// the cost does not depend on its length.
func BenchmarkEmitAfter(b *testing.B) {
	for _, past := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprint(past), func(b *testing.B) {
			r := run(b, openSQLite(b))
			r.fill(b, past)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				r.fill(b, 1)
			}
		})
	}
}

// BenchmarkReplay loads a session's history.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := run(b, openSQLite(b))
			r.fill(b, n)
			id := r.att.Info().ID
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				replay(b, r.hub, id, n)
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/load")
		})
	}
}

func replay(b *testing.B, h *hub.Hub, id string, n int) {
	b.Helper()
	a, err := h.Attach(b.Context(), id, session.AttachRequest{Replay: session.ReplayHistory})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Detach()
	got := 0
	for at := session.Seq(0); at < a.Start(); {
		events, cursor, err := a.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		got += len(events)
		at = cursor
	}
	if got < n {
		b.Fatalf("%d events were replayed, want %d", got, n)
	}
}
