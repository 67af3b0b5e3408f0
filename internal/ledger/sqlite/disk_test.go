package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestFullDisk fills the room the database may take: the append that does not
// fit fails whole and says so, and the ledger works on when there is room.
func TestFullDisk(t *testing.T) {
	l := openIn(t, t.TempDir())
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := l.writer.conn.ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count=", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(60)
	title := "stored"
	batch := session.Batch{Events: samples(40), Snapshot: []byte("s"), Change: &session.InfoChange{Title: &title}}
	var stored session.Seq
	for err == nil {
		var seq session.Seq
		if seq, err = l.Append(t.Context(), "s_1", fence, batch); err == nil {
			stored = seq
		}
		if stored > 10_000 {
			t.Fatal("the limit limits nothing")
		}
	}
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("Append on a full disk: %v, want ErrFull", err)
	}
	if _, err := l.Create(t.Context(), session.Info{ID: "s_big", Cwd: strings.Repeat("x", 1<<20)}); !errors.Is(err, ErrFull) {
		t.Errorf("Create on a full disk: %v, want ErrFull", err)
	}
	if got := session.Seq(countEvents(t, l, "s_1")); got != stored {
		t.Errorf("%d events are there, %d were acknowledged", got, stored)
	}
	if _, seq, err := l.Snapshot(t.Context(), "s_1"); err != nil || seq != stored {
		t.Errorf("the snapshot is at %d of %d, %v", seq, stored, err)
	}
	limit(1 << 20)
	if got, err := l.Append(t.Context(), "s_1", fence, batch); err != nil || got != stored+40 {
		t.Errorf("Append once there is room: %d, %v, want %d", got, err, stored+40)
	}
}

// TestOneFailureIsNotAnothers commits a group in which one request cannot be
// stored: the others are.
func TestOneFailureIsNotAnothers(t *testing.T) {
	l := openIn(t, t.TempDir())
	fences := map[string]session.Fence{}
	for i := range 6 {
		id := fmt.Sprint("s_", i)
		fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"})
		if err != nil {
			t.Fatal(err)
		}
		fences[id] = fence
	}
	bad := errors.New("cannot be stored")
	var calls []func() error
	for id, fence := range fences {
		calls = append(calls, func() error {
			_, err := l.Append(t.Context(), id, fence, session.Batch{Events: samples(2)})
			return err
		})
	}
	calls = append(calls, func() error {
		return l.writer.do(t.Context(), &request{op: func(t *tx) error {
			t.exec("DELETE FROM sessions")
			t.failed = bad
			return nil
		}})
	})
	errs := together(t, l, calls)
	for i, err := range errs {
		if last := i == len(errs)-1; last != errors.Is(err, bad) || !last && err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	for id := range fences {
		if got := countEvents(t, l, id); got != 2 {
			t.Errorf("%s has %d events, want 2", id, got)
		}
	}
}

// hold keeps the writer busy until release.
func hold(l *Ledger) (release func()) {
	started, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = l.writer.do(context.Background(), &request{alone: func() error {
			close(started)
			<-free
			return nil
		}})
	}()
	<-started
	return func() { close(free); <-done }
}

// together makes calls wait for the writer, in their order, so that they run as
// one group.
func together(t *testing.T, l *Ledger, calls []func() error) []error {
	t.Helper()
	release := hold(l)
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		waitFor(t, func() bool { return l.writer.queued() == i+1 })
	}
	release()
	wg.Wait()
	return errs
}

func (w *writer) queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting)
}

// waitFor polls for what no event tells.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}
