package ledgertest

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func testInfoRoundTrip(t *testing.T, l session.Ledger) {
	want := info("s_1")
	if _, err := l.Create(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	want.Active = true
	got, err := l.Info(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "Info", want, got)

	bare := session.Info{ID: "s_2", Owner: "local"}
	if _, err := l.Create(t.Context(), bare); err != nil {
		t.Fatal(err)
	}
	bare.Active = true
	if got, err = l.Info(t.Context(), "s_2"); err != nil {
		t.Fatal(err)
	}
	diff(t, "Info of a bare session", bare, got)
}

func testUnknownSession(t *testing.T, l session.Ledger) {
	ctx := t.Context()
	for _, id := range []string{"s_none", "", "../../etc/passwd", "s_' OR 1=1 --", "\x00", "s_\xff"} {
		calls := map[string]func() error{
			"Info":     func() error { _, err := l.Info(ctx, id); return err },
			"Update":   func() error { return l.Update(ctx, id, 0, session.InfoChange{}) },
			"Append":   func() error { _, err := l.Append(ctx, id, 1, session.Batch{Events: chunks(1)}); return err },
			"Read":     func() error { _, err := l.Read(ctx, id, 0, 10); return err },
			"Snapshot": func() error { _, _, err := l.Snapshot(ctx, id); return err },
			"Acquire":  func() error { _, err := l.Acquire(ctx, id); return err },
		}
		for name, call := range calls {
			if err := call(); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s(%q): %v, want ErrNotFound", name, id, err)
			}
		}
		if err := l.Release(ctx, id, 1); err != nil {
			t.Errorf("Release(%q): %v, want nil", id, err)
		}
		if err := l.Delete(ctx, id); err != nil {
			t.Errorf("Delete(%q): %v, want nil", id, err)
		}
	}
}

func testCreateTaken(t *testing.T, l session.Ledger) {
	first := info("s_1")
	if _, err := l.Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	sameID := session.Info{ID: "s_1", Owner: "local", Title: "usurper"}
	sameKey := session.Info{ID: "s_2", Owner: "local", Key: first.Key}
	for _, in := range []session.Info{sameID, sameKey} {
		var invalid *session.InvalidError
		if _, err := l.Create(t.Context(), in); !errors.As(err, &invalid) {
			t.Errorf("Create(%s, key %q): %v, want an InvalidError", in.ID, in.Key, err)
		}
	}
	if got, err := l.Info(t.Context(), "s_1"); err != nil || got.Title != first.Title {
		t.Errorf("the first session is now %q (%v)", got.Title, err)
	}
	if _, err := l.Info(t.Context(), "s_2"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("the refused session is there: %v", err)
	}
	otherOwner := session.Info{ID: "s_3", Owner: "bob", Key: first.Key}
	if _, err := l.Create(t.Context(), otherOwner); err != nil {
		t.Errorf("another owner's key: %v", err)
	}
	for _, id := range []string{"s_4", "s_5"} {
		if _, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"}); err != nil {
			t.Errorf("a session without a key: %v", err)
		}
	}
}

func testUpdate(t *testing.T, l session.Ledger) {
	want := info("s_1")
	fence, err := l.Create(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	want.Active = true
	empty, yes, no := "", true, false
	title, cwd, roots := "new", "/elsewhere", []string{"/one"}
	grants, when := jsontext.Value(`[]`), epoch().Add(2*time.Hour)
	for _, step := range []struct {
		name   string
		fence  session.Fence
		change session.InfoChange
		apply  func()
	}{
		{"nothing", fence, session.InfoChange{}, func() {}},
		{"title", fence, session.InfoChange{Title: &title}, func() { want.Title = title }},
		{"archived", 0, session.InfoChange{Archived: &yes}, func() { want.Archived = true }},
		{"texts emptied", 0, session.InfoChange{Key: &empty, Label: &empty, Foreign: &empty}, func() { want.Key, want.Label, want.Foreign = "", "", "" }},
		{"the rest", fence, session.InfoChange{
			Agent: &title, Cwd: &cwd, TitleSet: &no, Roots: &roots, Grants: &grants, UpdatedAt: &when,
		}, func() {
			want.Agent, want.Cwd, want.TitleSet, want.Roots, want.Grants, want.UpdatedAt = title, cwd, false, roots, grants, when
		}},
	} {
		if err := l.Update(t.Context(), "s_1", step.fence, step.change); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		step.apply()
		got, err := l.Info(t.Context(), "s_1")
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "Info after changing "+step.name, want, got)
	}
}

func testUpdateFence(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	newer, err := l.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	title := "stale"
	change := session.InfoChange{Title: &title}
	if err := l.Update(t.Context(), "s_1", fence, change); !errors.Is(err, session.ErrFenced) {
		t.Errorf("Update with a stale fence: %v, want ErrFenced", err)
	}
	if got, _ := l.Info(t.Context(), "s_1"); got.Title != "" {
		t.Errorf("the stale update was stored: %q", got.Title)
	}
	if err := l.Update(t.Context(), "s_1", newer, change); err != nil {
		t.Errorf("Update with the newest fence: %v", err)
	}
	if err := l.Release(t.Context(), "s_1", newer); err != nil {
		t.Fatal(err)
	}
	if err := l.Update(t.Context(), "s_1", 0, change); err != nil {
		t.Errorf("Update of a session that is not active: %v", err)
	}
}

func testUpdateKeyTaken(t *testing.T, l session.Ledger) {
	if _, err := l.Create(t.Context(), info("s_1")); err != nil {
		t.Fatal(err)
	}
	fence := create(t, l, "s_2")
	key := info("s_1").Key
	var invalid *session.InvalidError
	if err := l.Update(t.Context(), "s_2", 0, session.InfoChange{Key: &key}); !errors.As(err, &invalid) {
		t.Errorf("Update to a taken key: %v, want an InvalidError", err)
	}
	_, err := l.Append(t.Context(), "s_2", fence, session.Batch{Events: chunks(1), Change: &session.InfoChange{Key: &key}})
	if !errors.As(err, &invalid) {
		t.Errorf("Append with a taken key: %v, want an InvalidError", err)
	}
	if got := readAll(t, l, "s_2", 10); len(got) != 0 {
		t.Errorf("the refused append left %d events", len(got))
	}
	if err := l.Update(t.Context(), "s_1", 0, session.InfoChange{Key: &key}); err != nil {
		t.Errorf("Update to its own key: %v", err)
	}
}

func testLoadingChangesNothing(t *testing.T, l session.Ledger) {
	want := info("s_1")
	fence, err := l.Create(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	appendEvents(t, l, "s_1", fence, chunks(3)...)
	if err := l.Release(t.Context(), "s_1", fence); err != nil {
		t.Fatal(err)
	}
	before, _, err := l.List(t.Context(), session.Filter{}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want.LastSeq = 3
	diff(t, "List before", []session.Info{want}, before)

	again, err := l.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	readAll(t, l, "s_1", 2)
	if err := l.Release(t.Context(), "s_1", again); err != nil {
		t.Fatal(err)
	}
	after, _, err := l.List(t.Context(), session.Filter{}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "List after loading", before, after)
}

func testDelete(t *testing.T, l session.Ledger) {
	ctx := t.Context()
	keep := create(t, l, "s_keep")
	appendEvents(t, l, "s_keep", keep, chunks(2)...)
	fence := create(t, l, "s_1")
	_, err := l.Append(ctx, "s_1", fence, session.Batch{
		Events: chunks(2), Snapshot: []byte("x"), Docs: []session.Doc{{Seq: 1, Role: "user", Text: "unique word"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Delete(ctx, "s_1"); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	if _, err := l.Append(ctx, "s_1", fence, session.Batch{Events: chunks(1)}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Append after Delete: %v, want ErrNotFound", err)
	}
	if _, err := l.Append(ctx, "s_1", fence, session.Batch{Snapshot: []byte("y")}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Append of a snapshot after Delete: %v, want ErrNotFound", err)
	}
	if hits, err := l.Search(ctx, "unique", session.Filter{}, 10); err != nil || len(hits) != 0 {
		t.Errorf("Search after Delete: %d hits, %v", len(hits), err)
	}
	if got := readAll(t, l, "s_keep", 10); len(got) != 2 {
		t.Errorf("the other session has %d events, want 2", len(got))
	}
	// A session of the same name starts from nothing.
	again := create(t, l, "s_1")
	if got := readAll(t, l, "s_1", 10); len(got) != 0 {
		t.Errorf("the new session has %d events", len(got))
	}
	if _, seq, err := l.Snapshot(ctx, "s_1"); err != nil || seq != 0 {
		t.Errorf("the new session has a snapshot at %d (%v)", seq, err)
	}
	if seq := appendEvents(t, l, "s_1", again, chunks(1)...); seq != 1 {
		t.Errorf("its first event has number %d", seq)
	}
}

func testDeleteLong(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	for i := range 150 {
		_, err := l.Append(t.Context(), "s_1", fence, session.Batch{
			Events: chunks(1), Docs: []session.Doc{{Seq: session.Seq(i) + 1, Role: "assistant", Text: "needle"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Delete(t.Context(), "s_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Info(t.Context(), "s_1"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Info after Delete: %v, want ErrNotFound", err)
	}
	create(t, l, "s_1")
	if hits, err := l.Search(t.Context(), "needle", session.Filter{}, 10); err != nil || len(hits) != 0 {
		t.Errorf("Search after Delete: %d hits, %v", len(hits), err)
	}
}
