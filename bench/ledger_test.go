package bench

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// event is what a streaming model makes of a few words.
func event(tb testing.TB, sessionID, message string) session.Event {
	tb.Helper()
	body := jsontext.Value(fmt.Sprintf(`{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","messageId":%q,`+
		`"content":{"type":"text","text":"word word word word word word word word word word"}}}`, sessionID, message))
	facts, err := ingest.Look(body)
	if err != nil {
		tb.Fatal(err)
	}
	return session.Event{
		ID: session.NewID("e"), Time: time.Now(), Turn: "t_1", Epoch: 1,
		Kind: facts.Kind, Version: 1, Marks: facts.Marks, Body: body,
	}
}

// store is an open store in a directory as a home has it.
type store struct {
	*sqlite.Ledger
	inst *instance.Instance
	path string
}

func openStore(tb testing.TB, dir string) *store {
	tb.Helper()
	inst, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, "data", "sessions.db")
	l, err := sqlite.Open(context.Background(), path, inst)
	if err != nil {
		tb.Fatal(err)
	}
	return &store{l, inst, path}
}

func (s *store) end(tb testing.TB) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := s.inst.Close(); err != nil {
		tb.Fatal(err)
	}
}

// filled makes a session of n updates, 50 to a message.
func (s *store) filled(tb testing.TB, cwd string, n int) (string, session.Fence) {
	tb.Helper()
	id := session.NewID("s")
	now := time.Now()
	fence, err := s.Create(context.Background(), session.Info{
		ID: id, Owner: "local", Agent: "main", Cwd: cwd, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		tb.Fatal(err)
	}
	for at := 0; at < n; at += 50 {
		var events []session.Event
		for range min(50, n-at) {
			events = append(events, event(tb, id, fmt.Sprint("m_", at)))
		}
		if _, err := s.Append(context.Background(), id, fence, session.Batch{Events: events}); err != nil {
			tb.Fatal(err)
		}
	}
	return id, fence
}

// bareTable is the floor of an append: the same driver and settings, one row a
// commit.
func bareTable(b *testing.B) func(data []byte) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bare.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE e (id INTEGER PRIMARY KEY, data BLOB)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO e (data) VALUES (?)")
	if err != nil {
		b.Fatal(err)
	}
	return func(data []byte) {
		if _, err := insert.Exec(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend commits one event at a time to sessions of different lengths.
func BenchmarkAppend(b *testing.B) {
	for _, length := range []int{1, 10_000, 100_000} {
		b.Run(fmt.Sprintf("after=%d", length), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			defer s.end(b)
			id, fence := s.filled(b, "/", length)
			batch := session.Batch{Events: []session.Event{event(b, id, "m_1")}}
			insert := bareTable(b)
			var ours, base sample
			for b.Loop() {
				ours.add(func() {
					if _, err := s.Append(context.Background(), id, fence, batch); err != nil {
						b.Fatal(err)
					}
				})
				base.add(func() { insert(batch.Events[0].Body) })
			}
			b.ReportMetric(us(ours.p50()), "us-p50")
			b.ReportMetric(us(base.p50()), "base-us-p50")
			b.ReportMetric(float64(ours.p50())/float64(base.p50()), "x-base")
		})
	}
}
