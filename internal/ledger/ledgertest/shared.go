package ledgertest

import (
	"errors"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func testActiveElsewhere(t *testing.T, a, b session.Ledger, _ func()) {
	create(t, b, "s_1")
	title := "from a"
	for name, call := range map[string]func() error{
		"Acquire": func() error { _, err := a.Acquire(t.Context(), "s_1"); return err },
		"Update":  func() error { return a.Update(t.Context(), "s_1", 0, session.InfoChange{Title: &title}) },
		"Delete":  func() error { return a.Delete(t.Context(), "s_1") },
	} {
		var elsewhere *session.ActiveElsewhereError
		if err := call(); !errors.As(err, &elsewhere) {
			t.Errorf("%s: %v, want an ActiveElsewhereError", name, err)
			continue
		}
		if elsewhere.Session != "s_1" || elsewhere.Instance == "" || elsewhere.Socket == "" {
			t.Errorf("%s: incomplete %+v", name, elsewhere)
		}
	}
	got, err := a.Info(t.Context(), "s_1")
	if err != nil || !got.Active || got.Title != "" {
		t.Errorf("Info: %+v, %v", got, err)
	}
}

func testReleasedIsFree(t *testing.T, a, b session.Ledger, _ func()) {
	fence := create(t, b, "s_1")
	appendEvents(t, b, "s_1", fence, chunks(3)...)
	if err := b.Release(t.Context(), "s_1", fence); err != nil {
		t.Fatal(err)
	}
	next, err := a.Acquire(t.Context(), "s_1")
	if err != nil || next <= fence {
		t.Fatalf("Acquire: %d, %v, want more than %d", next, err, fence)
	}
	if seq := appendEvents(t, a, "s_1", next, chunks(1)...); seq != 4 {
		t.Errorf("the next event has number %d, want 4", seq)
	}
	if _, err := b.Append(t.Context(), "s_1", fence, session.Batch{Events: chunks(1)}); !errors.Is(err, session.ErrFenced) {
		t.Errorf("the old owner's append: %v, want ErrFenced", err)
	}
	// Back again: what the first owner remembers is not what counts.
	if err := a.Release(t.Context(), "s_1", next); err != nil {
		t.Fatal(err)
	}
	third, err := b.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	if seq := appendEvents(t, b, "s_1", third, chunks(1)...); seq != 5 {
		t.Errorf("the event after coming back has number %d, want 5", seq)
	}
}

func testDeadIsTakenOver(t *testing.T, a, b session.Ledger, stop func()) {
	fence := create(t, b, "s_1")
	appendEvents(t, b, "s_1", fence, chunks(2)...)
	stop()
	if got, err := a.Info(t.Context(), "s_1"); err != nil || got.Active {
		t.Errorf("a dead instance's session: active %v, %v", got.Active, err)
	}
	next, err := a.Acquire(t.Context(), "s_1")
	if err != nil || next <= fence {
		t.Fatalf("Acquire: %d, %v, want more than %d", next, err, fence)
	}
	_, err = b.Append(t.Context(), "s_1", fence, session.Batch{Events: chunks(1), Snapshot: []byte("late")})
	if !errors.Is(err, session.ErrFenced) {
		t.Errorf("the dead owner's append: %v, want ErrFenced", err)
	}
	if seq := appendEvents(t, a, "s_1", next, chunks(1)...); seq != 3 {
		t.Errorf("the next event has number %d, want 3", seq)
	}
}

func testSeesTheOther(t *testing.T, a, b session.Ledger, _ func()) {
	fence := create(t, b, "s_1")
	say(t, b, "s_1", fence, "user", "shared needle")
	if got := readAll(t, a, "s_1", 10); len(got) != 1 {
		t.Errorf("%d events, want 1", len(got))
	}
	if got := listAll(t, a, session.Filter{}, 10); len(got) != 1 || !got[0].Active {
		t.Errorf("List: %+v", got)
	}
	if hits, err := a.Search(t.Context(), "needle", session.Filter{}, 10); err != nil || len(hits) != 1 {
		t.Errorf("Search: %d hits, %v", len(hits), err)
	}
	if err := b.Release(t.Context(), "s_1", fence); err != nil {
		t.Fatal(err)
	}
	if err := a.Delete(t.Context(), "s_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Info(t.Context(), "s_1"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Info of a session the other deleted: %v, want ErrNotFound", err)
	}
}
