package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestGroupCommit checks that what waits is committed in one transaction, in
// the order it came.
func TestGroupCommit(t *testing.T) {
	l := openIn(t, t.TempDir())
	var order []int
	var txs []*tx
	var calls []func() error
	for i := range 20 {
		calls = append(calls, func() error {
			return l.writer.do(context.Background(), &request{op: func(t *tx) error {
				order, txs = append(order, i), append(txs, t)
				return nil
			}})
		})
	}
	for i, err := range together(t, l, calls) {
		if err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	for i := range order {
		if order[i] != i || txs[i] != txs[0] {
			t.Fatalf("requests ran in order %v, or not in one transaction", order)
		}
	}
	if len(order) != len(calls) {
		t.Errorf("%d of %d requests ran", len(order), len(calls))
	}
}

// TestGroupBounded checks that a group ends where a transaction would take too
// long.
func TestGroupBounded(t *testing.T) {
	l := openIn(t, t.TempDir())
	var mu sync.Mutex
	sizes := map[*tx]int{}
	var calls []func() error
	for range 9 {
		calls = append(calls, func() error {
			return l.writer.do(context.Background(), &request{bytes: maxGroupBytes / 3, op: func(t *tx) error {
				mu.Lock()
				defer mu.Unlock()
				sizes[t]++
				return nil
			}})
		})
	}
	together(t, l, calls)
	if len(sizes) != 3 {
		t.Errorf("9 requests of a third each ran in groups %v, want 3 of 3", sizes)
	}
}

// TestWithdraw cancels a request that waits: it never runs, and those around it
// do.
func TestWithdraw(t *testing.T) {
	l := openIn(t, t.TempDir())
	release := hold(l)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make([]bool, 3)
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i, ctx := range []context.Context{t.Context(), ctx, t.Context()} {
		wg.Go(func() {
			errs[i] = l.writer.do(ctx, &request{op: func(*tx) error { ran[i] = true; return nil }})
		})
		waitFor(t, func() bool { return l.writer.queued() == i+1 })
	}
	cancel()
	waitFor(t, func() bool { return l.writer.queued() == 2 })
	release()
	wg.Wait()
	for i, want := range []error{nil, context.Canceled, nil} {
		if !errors.Is(errs[i], want) || ran[i] != (want == nil) {
			t.Errorf("request %d: %v, ran %v", i, errs[i], ran[i])
		}
	}
}

// TestCloseWhileAppending closes the ledger while many append: every append is
// either stored or refused, and none hangs.
func TestCloseWhileAppending(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	const sessions = 8
	stored := make([]session.Seq, sessions)
	var wg, begun sync.WaitGroup
	for i := range sessions {
		begun.Add(1)
		wg.Go(func() {
			id := fmt.Sprint("s_", i)
			fence, err := l.Create(context.Background(), session.Info{ID: id, Owner: "local"})
			for n := 0; err == nil; n++ {
				var seq session.Seq
				if seq, err = l.Append(context.Background(), id, fence, session.Batch{Events: samples(1)}); err == nil {
					stored[i] = seq
				}
				if n == 3 {
					begun.Done()
				}
			}
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v, want ErrClosed", id, err)
			}
		})
	}
	begun.Wait()
	if err := l.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
	again := mustReopen(t, l.path)
	for i, want := range stored {
		if got := session.Seq(countEvents(t, again, fmt.Sprint("s_", i))); got != want {
			t.Errorf("s_%d has %d events, %d were acknowledged", i, got, want)
		}
	}
}
