package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// sample is an event as a streaming model makes them: about 200 bytes of body.
func sample() session.Event {
	body := `{"sessionId":"s_abcdefghijklmnopqrstuvwxyz","update":{"sessionUpdate":"agent_message_chunk","messageId":"m_1","content":{"type":"text","text":"` + strings.Repeat("word ", 10) + `"}}}`
	return session.Event{
		ID: session.NewID("e"), Time: time.Now(), Turn: "t_abcdefghijklmnopqrstuvwxyz", Epoch: 1, Kind: session.KindAgentMessage,
		Version: 1, Marks: session.Marks{SessionID: session.Span{From: 13, To: 43}}, Body: jsontext.Value(body),
	}
}

func samples(n int) []session.Event {
	events := make([]session.Event, n)
	for i := range events {
		events[i] = sample()
	}
	return events
}

func benchSession(b *testing.B, l *Ledger, id string) session.Fence {
	b.Helper()
	fence, err := l.Create(b.Context(), session.Info{ID: id, Owner: "local"})
	if err != nil {
		b.Fatal(err)
	}
	return fence
}

// fill appends n events in batches of up to 64.
func fill(b *testing.B, l *Ledger, id string, fence session.Fence, n int) {
	b.Helper()
	for batch := samples(min(n, 64)); n > 0; n -= len(batch) {
		if _, err := l.Append(b.Context(), id, fence, session.Batch{Events: batch[:min(n, 64)]}); err != nil {
			b.Fatal(err)
		}
	}
}

// bareCommit is the denominator: one blob inserted and committed by the same
// driver, with the same settings and nothing of ours around it. It returns the
// mean of n.
func bareCommit(b *testing.B, synchronous string, n int) time.Duration {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bare.db")
	if err := os.WriteFile(path+commitSuffix, nil, filePerm); err != nil {
		b.Fatal(err)
	}
	db, err := openDB(path, "journal_mode(WAL)", "synchronous("+synchronous+")")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE e (id INTEGER PRIMARY KEY, data BLOB)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO e (data) VALUES (?)")
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	data := appendRow(nil, samples(1))
	start := time.Now()
	for range n {
		if _, err := insert.Exec(data); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start) / time.Duration(n)
}

// BenchmarkAppend appends one event a commit to sessions of different lengths
// and reports the cost as a multiple of the bare commit.
func BenchmarkAppend(b *testing.B) {
	for _, length := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("after=%d", length), func(b *testing.B) {
			l := openIn(b, b.TempDir())
			fence := benchSession(b, l, "s_1")
			fill(b, l, "s_1", fence, length)
			batch := session.Batch{Events: samples(1)}
			bare := bareCommit(b, "NORMAL", 2000)
			for b.Loop() {
				if _, err := l.Append(context.Background(), "s_1", fence, batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(bare), "x-bare")
			b.ReportMetric(float64(bare), "bare-ns")
		})
	}
}

// BenchmarkAppendDurable flushes each commit, as a turn's end does.
func BenchmarkAppendDurable(b *testing.B) {
	l := openIn(b, b.TempDir())
	fence := benchSession(b, l, "s_1")
	batch := session.Batch{Events: samples(1), Snapshot: []byte(strings.Repeat("s", 2000)), Durable: true}
	bare := bareCommit(b, "FULL", 200)
	for b.Loop() {
		if _, err := l.Append(context.Background(), "s_1", fence, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(bare), "x-bare")
}

// BenchmarkAppend64 commits 64 events at a time.
func BenchmarkAppend64(b *testing.B) {
	l := openIn(b, b.TempDir())
	fence := benchSession(b, l, "s_1")
	batch := session.Batch{Events: samples(64)}
	for b.Loop() {
		if _, err := l.Append(context.Background(), "s_1", fence, batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(64*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendSessions appends to many sessions at once, one event each.
func BenchmarkAppendSessions(b *testing.B) {
	for _, sessions := range []int{16, 256} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) {
			l := openIn(b, b.TempDir())
			fences := make([]session.Fence, sessions)
			for i := range fences {
				fences[i] = benchSession(b, l, fmt.Sprint("s_", i))
			}
			batch := session.Batch{Events: samples(1)}
			var next atomic.Int64
			b.SetParallelism(sessions / 2)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				i := int(next.Add(1)-1) % sessions
				id := fmt.Sprint("s_", i)
				for pb.Next() {
					if _, err := l.Append(context.Background(), id, fences[i], batch); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkAppendInstances appends through two instances on one store at once
// and reports how long the slowest hundredth took.
func BenchmarkAppendInstances(b *testing.B) {
	dir := b.TempDir()
	took := make([][]time.Duration, 2)
	var wg sync.WaitGroup
	for i := range took {
		l := openIn(b, dir)
		id := fmt.Sprint("s_", i)
		fence := benchSession(b, l, id)
		took[i] = make([]time.Duration, 0, b.N)
		wg.Go(func() {
			batch := session.Batch{Events: samples(1)}
			for range b.N {
				start := time.Now()
				if _, err := l.Append(context.Background(), id, fence, batch); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	b.ReportMetric(float64(all[len(all)/2]), "p50-ns")
	b.ReportMetric(float64(all[len(all)*99/100]), "p99-ns")
}

// BenchmarkRead pages through a session: its events came in rows of 64, and one
// by one.
func BenchmarkRead(b *testing.B) {
	for _, length := range []int{10_000, 100_000} {
		for _, size := range []int{1, 64} {
			b.Run(fmt.Sprintf("events=%d/row=%d", length, size), func(b *testing.B) {
				l := openIn(b, b.TempDir())
				fence := benchSession(b, l, "s_1")
				for n := 0; n < length; n += size {
					fill(b, l, "s_1", fence, min(size, length-n))
				}
				for b.Loop() {
					n := 0
					for after := session.Seq(0); ; {
						page, err := l.Read(context.Background(), "s_1", after, 256)
						if err != nil {
							b.Fatal(err)
						}
						if len(page) == 0 {
							break
						}
						n += len(page)
						after = page[len(page)-1].Seq
					}
					if n != length {
						b.Fatalf("read %d events, want %d", n, length)
					}
				}
			})
		}
	}
}

// BenchmarkOpen opens an existing store, which is part of every cold start.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	l := openIn(b, dir)
	fence := benchSession(b, l, "s_1")
	fill(b, l, "s_1", fence, 10_000)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	var closing time.Duration
	for b.Loop() {
		again, err := Open(context.Background(), l.path, l.inst)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
		closing += time.Since(start)
	}
	b.ReportMetric(float64(closing)/float64(b.N), "ns-of-it-close")
}

// BenchmarkList lists the newest page of many sessions.
func BenchmarkList(b *testing.B) {
	l := openIn(b, b.TempDir())
	err := l.writer.do(b.Context(), &request{op: func(t *tx) error {
		for i := range 10_000 {
			info := session.Info{ID: fmt.Sprint("s_", i), Owner: "local", Cwd: fmt.Sprint("/w", i%50), UpdatedAt: time.Unix(int64(i), 0)}
			if err := t.create(&info, 0); err != nil {
				return err
			}
		}
		return nil
	}})
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]session.Filter{"all": {}, "cwd": {Owner: "local", Cwd: "/w7"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := l.List(context.Background(), f, "", 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode decodes a row of 64 events without the database.
func BenchmarkDecode(b *testing.B) {
	row := appendRow(nil, samples(64))
	b.SetBytes(int64(len(row)))
	var events []session.Event
	for b.Loop() {
		var err error
		if events, err = decodeRow(events[:0], row); err != nil {
			b.Fatal(err)
		}
	}
}
