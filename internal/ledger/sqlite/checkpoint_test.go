package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func walSize(t *testing.T, l *Ledger) int64 {
	t.Helper()
	st, err := os.Stat(l.path + walSuffix)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// TestLogBounded writes several times what the log may hold while one reader has
// read a page and stalled, and another keeps reading.
func TestLogBounded(t *testing.T) {
	const limit = 512 << 10
	dir := t.TempDir()
	l := &Ledger{path: filepath.Join(dir, "sessions.db"), inst: openInstance(t, dir), layout: current, walLimit: limit}
	if _, err := l.opened(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	batch := session.Batch{Events: samples(64)}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for after := session.Seq(0); ; {
			select {
			case <-stop:
				return
			default:
			}
			page, err := l.Read(t.Context(), "s_1", after, 50)
			if err != nil {
				t.Errorf("Read: %v", err)
				return
			}
			after += session.Seq(len(page))
		}
	}()
	var largest int64
	for written := 0; written < 12*limit; written += 64 * 250 {
		if _, err := l.Append(t.Context(), "s_1", fence, batch); err != nil {
			t.Fatal(err)
		}
		if written == 0 { // the stalled one
			if _, err := l.Read(t.Context(), "s_1", 0, 10); err != nil {
				t.Fatal(err)
			}
		}
		largest = max(largest, walSize(t, l))
	}
	close(stop)
	<-stopped
	// Twice the limit, and as much again when a reader was in the way once.
	if largest > 4*limit {
		t.Errorf("the log grew to %d KiB, want at most %d", largest>>10, 4*limit>>10)
	}
	waitFor(t, func() bool { return walSize(t, l) == 0 })
}

// TestForeignReader holds a read transaction, as another program may: commits go
// on, and the log is emptied once it ends.
func TestForeignReader(t *testing.T) {
	l := openIn(t, t.TempDir())
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := l.reads.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Rollback() }()
	var n int
	if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM events").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(1)}); err != nil {
			t.Fatal(err)
		}
	}
	if l.checkpointer.checkpoint("TRUNCATE") {
		t.Error("the log was emptied under a reader")
	}
	if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(1)}); err != nil {
		t.Fatalf("Append after an attempt to empty the log: %v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return walSize(t, l) == 0 })
}

// TestTrashIsEmptied leaves deletions half done, as a crash does: the store
// finishes them when it is idle.
func TestTrashIsEmptied(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	for i := range 3 {
		id := fmt.Sprint("s_", i)
		fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"})
		if err != nil {
			t.Fatal(err)
		}
		b := session.Batch{Events: samples(600), Docs: []session.Doc{{Seq: 1, Role: "user", Text: "secret"}}}
		if _, err := l.Append(t.Context(), id, fence, b); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"s_0", "s_2"} {
		err := l.writer.do(t.Context(), &request{op: func(t *tx) error { _, err := t.delete(id); return err }})
		if err != nil {
			t.Fatal(err)
		}
	}
	left := func() (n int) {
		err := l.reads.QueryRow("SELECT (SELECT count(*) FROM events WHERE id >> 32 <> 2) + (SELECT count(*) FROM docs WHERE id >> 32 <> 2) + (SELECT count(*) FROM trash)").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	waitFor(t, func() bool { return left() == 0 })
	if got := countEvents(t, l, "s_1"); got != 600 {
		t.Errorf("the session that was not deleted has %d events, want 600", got)
	}
	if hits, err := l.Search(t.Context(), "secret", session.Filter{}, 10); err != nil || len(hits) != 1 {
		t.Errorf("Search: %d hits, %v, want 1", len(hits), err)
	}
}
