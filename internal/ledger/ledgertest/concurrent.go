package ledgertest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func testConcurrentSessions(t *testing.T, l session.Ledger) {
	const sessions, appends = 16, 30
	var wg sync.WaitGroup
	for s := range sessions {
		id := fmt.Sprint("s_", s)
		wg.Go(func() {
			fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"})
			if err != nil {
				t.Errorf("Create: %v", err)
				return
			}
			for i := range appends {
				seq, err := l.Append(t.Context(), id, fence, session.Batch{Events: chunks(1 + i%3), Durable: i%10 == 9})
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				page, err := l.Read(t.Context(), id, seq-1, 10)
				if err != nil || len(page) != 1 || page[0].Seq != seq {
					t.Errorf("after Append returned %d, Read has %d events, %v", seq, len(page), err)
				}
			}
		})
	}
	wg.Wait()
	for s := range sessions {
		if got := readAll(t, l, fmt.Sprint("s_", s), 64); len(got) != appends*2 {
			t.Errorf("session %d has %d events, want %d", s, len(got), appends*2)
		}
	}
}

// testConcurrentOneSession appends batches to one session from many goroutines:
// each batch stays together and every number is given once.
func testConcurrentOneSession(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	const writers, appends, size = 8, 20, 3
	var wg sync.WaitGroup
	var mu sync.Mutex
	ends := map[session.Seq]string{}
	for w := range writers {
		wg.Go(func() {
			for i := range appends {
				batch := chunks(size)
				turn := fmt.Sprintf("t_%d_%d", w, i)
				for j := range batch {
					batch[j].Turn = turn
				}
				seq, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: batch})
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				mu.Lock()
				ends[seq] = turn
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	all := readAll(t, l, "s_1", 100)
	if len(all) != writers*appends*size || len(ends) != writers*appends {
		t.Fatalf("%d events, %d ends; want %d and %d", len(all), len(ends), writers*appends*size, writers*appends)
	}
	for end, turn := range ends {
		for _, e := range all[end-size : end] {
			if e.Turn != turn {
				t.Fatalf("event %d is of %s, want %s", e.Seq, e.Turn, turn)
			}
		}
	}
}

// testReadsWhileAppending follows a session with a cursor while it grows: no
// event is missed, seen twice or torn.
func testReadsWhileAppending(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	const total = 600
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; n < total; n += 5 {
			if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: chunks(5), Snapshot: []byte(fmt.Sprint(n + 5))}); err != nil {
				t.Errorf("Append: %v", err)
				return
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			for after := session.Seq(0); after < total && !t.Failed(); {
				page, err := l.Read(t.Context(), "s_1", after, 7)
				if err != nil {
					t.Errorf("Read: %v", err)
					return
				}
				for _, e := range page {
					if after++; e.Seq != after {
						t.Errorf("event %d came after %d", e.Seq, after-1)
						return
					}
				}
				data, seq, err := l.Snapshot(t.Context(), "s_1")
				if err != nil || seq != 0 && string(data) != fmt.Sprint(seq) {
					t.Errorf("Snapshot is %q at %d, %v", data, seq, err)
				}
			}
		})
	}
	wg.Wait()
}

func testClosed(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Create": func() error { _, err := l.Create(ctx, session.Info{ID: "s_2"}); return err },
		"Append": func() error { _, err := l.Append(ctx, "s_1", fence, session.Batch{Events: chunks(1)}); return err },
		"Read":   func() error { _, err := l.Read(ctx, "s_1", 0, 1); return err },
		"List":   func() error { _, _, err := l.List(ctx, session.Filter{}, "", 1); return err },
	} {
		if err := call(); err == nil || errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s after Close: %v, want an error of its own", name, err)
		}
	}
}
