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
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// event makes an event as the hub does.
func event(tb testing.TB, kind session.Kind, keep session.Retention, version uint8, body string) session.Event {
	tb.Helper()
	facts, err := ingest.Look(jsontext.Value(body))
	if err != nil {
		tb.Fatal(err)
	}
	return session.Event{
		ID: session.NewID("e"), Time: time.Now(), Turn: "t_1", Epoch: 1, Kind: kind, Retention: keep,
		Version: version, Marks: facts.Marks, Body: jsontext.Value(body),
	}
}

// words is what a streaming model makes of a few words.
func words(tb testing.TB, kind session.Kind, sessionID, message string) session.Event {
	tb.Helper()
	return event(tb, kind, session.History, 1, fmt.Sprintf(`{"sessionId":%q,"update":{"sessionUpdate":%q,"messageId":%q,`+
		`"content":{"type":"text","text":"word word word word word word word word word word"}}}`, sessionID, kind, message))
}

// turn is a turn of n updates: the user's words and the agent's, with what the
// hub and the driver note down beside them.
func turn(tb testing.TB, sessionID, id string, n int) []session.Event {
	tb.Helper()
	said := func(role string) session.Event {
		return event(tb, session.KindDriverPrivate, session.Private, 0,
			fmt.Sprintf(`{"v":1,"message":{"role":%q,"parts":[{"text":"words"}]}}`, role))
	}
	events := []session.Event{
		event(tb, session.KindTurnStart, session.Live, 0, fmt.Sprintf(`{"turn":%q}`, id)),
		words(tb, session.KindUserMessage, sessionID, id+"u"),
		said("user"),
	}
	for range n - 1 {
		events = append(events, words(tb, session.KindAgentMessage, sessionID, id+"a"))
	}
	return append(events, said("assistant"),
		event(tb, session.KindTurnEnd, session.Live, 0, fmt.Sprintf(`{"turn":%q,"stop":"end_turn"}`, id)))
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

// filled makes a session of n updates in turns of 50.
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
	var sum state.State
	for at := 0; at < n; at += 50 {
		batch := session.Batch{Events: turn(tb, id, fmt.Sprint("t_", at), min(50, n-at))}
		for _, e := range batch.Events {
			e.Seq = sum.Seq + 1
			sum.Apply(e)
		}
		if batch.Snapshot, err = sum.Encode(); err != nil {
			tb.Fatal(err)
		}
		if _, err := s.Append(context.Background(), id, fence, batch); err != nil {
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
			batch := session.Batch{Events: []session.Event{words(b, session.KindAgentMessage, id, "m_1")}}
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
