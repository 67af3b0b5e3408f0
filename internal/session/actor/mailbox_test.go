package actor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// said is an item of some size.
func said(bytes int) item {
	return item{event: session.Event{Body: make(jsontext.Value, bytes)}}
}

// TestDriverWaitsForTheStore fills a mailbox nobody empties.
func TestDriverWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox()
		never := make(chan struct{})
		pushed := 0
		done := make(chan error, 1)
		go func() {
			for range 1000 {
				if err := m.push(t.Context(), never, said(1000)); err != nil {
					done <- err
					return
				}
				pushed++
			}
			done <- nil
		}()
		synctest.Wait()
		if max := mailboxBytes/1000 + 1; pushed == 0 || pushed > max {
			t.Errorf("%d items went in, want at most %d", pushed, max)
		}
		m.post(func() {}) // control work is never held up
		control, driver := m.take(nil, nil, true)
		if len(control) != 1 || len(driver) != 0 {
			t.Errorf("held: %d, %d", len(control), len(driver))
		}
		for taken := 0; taken < 1000; {
			_, driver := m.take(nil, nil, false)
			taken += len(driver)
			synctest.Wait()
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingDriverGivesUp(t *testing.T) {
	for name, end := range map[string]func(over chan struct{}, cancel func(), m *mailbox){
		"epoch over": func(over chan struct{}, _ func(), _ *mailbox) { close(over) },
		"context":    func(_ chan struct{}, cancel func(), _ *mailbox) { cancel() },
		"closed":     func(_ chan struct{}, _ func(), m *mailbox) { m.close() },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMailbox()
			over := make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			// One item over the bound goes in alone: it would never fit otherwise.
			if err := m.push(ctx, over, said(2*mailboxBytes)); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- m.push(ctx, over, said(1)) }()
			end(over, cancel, m)
			if err := <-done; !errors.Is(err, session.ErrEpochOver) && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if m.post(func() {}) == (name == "closed") {
				t.Error("control work was treated wrongly")
			}
		})
	}
}

func TestRecycleForgetsBursts(t *testing.T) {
	small := recycle(make([]func(), 10, 20), true)
	if cap(small) != 20 || len(small) != 0 {
		t.Errorf("a small slice became %d, %d", len(small), cap(small))
	}
	if big := recycle(make([]func(), 10, keepItems+1), true); big != nil {
		t.Errorf("a burst's room is kept by an idle session: %d", cap(big))
	}
	if big := recycle(make([]func(), 10, 1000), false); cap(big) != 1000 {
		t.Errorf("a busy session gave up its room: %d", cap(big))
	}
}
