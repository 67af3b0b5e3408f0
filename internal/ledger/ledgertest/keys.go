package ledgertest

import (
	"errors"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// testReset: the key and the label move to a new session; the old one keeps
// everything else, although it is active.
func testReset(t *testing.T, l session.Ledger) {
	old := info("s_1")
	fence, err := l.Create(t.Context(), old)
	if err != nil {
		t.Fatal(err)
	}
	appendEvents(t, l, "s_1", fence, chunk("before"))
	fresh := session.Info{ID: "s_2", Owner: "local", Key: old.Key, Label: old.Label, Agent: "main", Cwd: "/w", CreatedAt: epoch(), UpdatedAt: epoch()}
	newFence, err := l.Reset(t.Context(), "s_1", fresh)
	if err != nil {
		t.Fatal(err)
	}
	appendEvents(t, l, "s_2", newFence, chunk("after"))
	appendEvents(t, l, "s_1", fence, chunk("the turn goes on"))

	old.Key, old.Label, old.Active, old.LastSeq = "", "", true, 2
	got, err := l.Info(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "the old session", old, got)
	found, _, err := l.List(t.Context(), session.Filter{Owner: "local", Key: fresh.Key}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "sessions of the key", []string{"s_2"}, ids(found))
}

// testResetRefused: a reset that is refused changes nothing.
func testResetRefused(t *testing.T, l session.Ledger) {
	old := info("s_1")
	if _, err := l.Create(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	create(t, l, "s_3")
	taken := func(err error) bool { return errors.As(err, new(*session.KeyTakenError)) }
	for _, c := range []struct {
		name, old string
		info      session.Info
		as        func(error) bool
	}{
		{"another key", "s_1", session.Info{ID: "s_2", Owner: "local", Key: "another"}, taken},
		{"somebody else", "s_1", session.Info{ID: "s_2", Owner: "eve", Key: old.Key}, taken},
		{"an id that is there", "s_1", session.Info{ID: "s_3", Owner: "local", Key: old.Key}, func(err error) bool { return err != nil }},
		{"the key of a third", "s_3", session.Info{ID: "s_2", Owner: "local", Key: old.Key}, taken},
		{"none there", "s_9", session.Info{ID: "s_2", Owner: "local"}, func(err error) bool { return errors.Is(err, session.ErrNotFound) }},
	} {
		if _, err := l.Reset(t.Context(), c.old, c.info); !c.as(err) {
			t.Errorf("%s: %v", c.name, err)
		}
		if got, err := l.Info(t.Context(), "s_1"); err != nil || got.Key != old.Key || got.Label != old.Label {
			t.Errorf("%s: the session has key %q, label %q, %v", c.name, got.Key, got.Label, err)
		}
		if _, err := l.Info(t.Context(), "s_2"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: the refused session: %v", c.name, err)
		}
	}
	if _, err := l.Reset(t.Context(), "s_3", session.Info{ID: "s_4", Owner: "local", Key: "fresh"}); err != nil {
		t.Errorf("reset of a session without a key: %v", err)
	}
}

func testShares(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	share := func(owner string, role session.Role) session.ShareChange {
		return session.ShareChange{Share: session.Share{Owner: owner, Role: role}}
	}
	revoke := func(owner string) session.ShareChange {
		return session.ShareChange{Share: session.Share{Owner: owner}, Revoke: true}
	}
	for _, step := range []struct {
		name    string
		changes []session.ShareChange
		want    []session.Share
	}{
		{
			"two",
			[]session.ShareChange{share("bob", session.Prompter), share("ann", session.Observer)},
			[]session.Share{{Owner: "ann", Role: session.Observer}, {Owner: "bob", Role: session.Prompter}},
		},
		{
			"another role",
			[]session.ShareChange{share("bob", session.Approver)},
			[]session.Share{{Owner: "ann", Role: session.Observer}, {Owner: "bob", Role: session.Approver}},
		},
		{"taken back", []session.ShareChange{revoke("ann"), revoke("nobody")}, []session.Share{{Owner: "bob", Role: session.Approver}}},
		{"given and taken", []session.ShareChange{share("eve", session.Observer), revoke("eve"), revoke("bob")}, nil},
	} {
		if err := l.Update(t.Context(), "s_1", fence, session.InfoChange{Shares: step.changes}); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		got, err := l.Info(t.Context(), "s_1")
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "shares after "+step.name, step.want, got.Shares)
	}
}

func testListShared(t *testing.T, l session.Ledger) {
	for i, in := range []session.Info{
		{ID: "s_own", Owner: "bob"},
		{ID: "s_shared", Owner: "ann", Shares: []session.Share{{Owner: "bob", Role: session.Observer}}},
		{ID: "s_other", Owner: "ann", Shares: []session.Share{{Owner: "eve", Role: session.Approver}}},
	} {
		in.UpdatedAt = epoch().Add(-time.Duration(i) * time.Second)
		if _, err := l.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		f    session.Filter
		want []string
	}{
		{session.Filter{Owner: "bob"}, []string{"s_own"}},
		{session.Filter{Owner: "bob", Shared: true}, []string{"s_own", "s_shared"}},
		{session.Filter{Owner: "eve", Shared: true}, []string{"s_other"}},
		{session.Filter{Owner: "max", Shared: true}, nil},
	} {
		got, _, err := l.List(t.Context(), c.f, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "list", c.want, ids(got))
	}
	if err := l.Delete(t.Context(), "s_shared"); err != nil {
		t.Fatal(err)
	}
	got, _, err := l.List(t.Context(), session.Filter{Owner: "bob", Shared: true}, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "list without the deleted one", []string{"s_own"}, ids(got))
}

func testListAgents(t *testing.T, l session.Ledger) {
	for i, agent := range []string{"main", "codex", "design"} {
		in := session.Info{ID: "s_" + agent, Owner: "local", Agent: agent, UpdatedAt: epoch().Add(-time.Duration(i) * time.Second)}
		if _, err := l.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		f    session.Filter
		want []string
	}{
		{session.Filter{Agents: []string{"main"}}, []string{"s_main"}},
		{session.Filter{Agents: []string{"design", "main"}}, []string{"s_main", "s_design"}},
		{session.Filter{Agents: []string{"design"}, Agent: "main"}, nil},
	} {
		got, _, err := l.List(t.Context(), c.f, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "list", c.want, ids(got))
	}
}

// testListCursorOfAnother: a cursor continues the list it came with, as it came.
func testListCursorOfAnother(t *testing.T, l session.Ledger) {
	for _, id := range []string{"s_1", "s_2", "s_3"} {
		create(t, l, id)
	}
	f := session.Filter{Owner: "local", Cwd: "/w"}
	_, cursor, err := l.List(t.Context(), f, "", 2)
	if err != nil || cursor == "" {
		t.Fatalf("cursor %q, %v", cursor, err)
	}
	for _, other := range []session.Filter{
		{},
		{Owner: "local"},
		{Owner: "eve", Cwd: "/w"},
		{Owner: "local", Cwd: "/x"},
		{Owner: "local", Cwd: "/w", Shared: true},
		{Owner: "local", Cwd: "/w", Agents: []string{"main"}},
		{Owner: "local", Cwd: "/w", Archived: session.IncludeArchived},
	} {
		if _, _, err := l.List(t.Context(), other, cursor, 2); !errors.Is(err, session.ErrBadCursor) {
			t.Errorf("with the filter %+v: %v", other, err)
		}
	}
	for i := range len(cursor) {
		c := byte('A')
		if cursor[i] == c {
			c = 'B'
		}
		tampered := cursor[:i] + string(c) + cursor[i+1:]
		if _, _, err := l.List(t.Context(), f, tampered, 2); !errors.Is(err, session.ErrBadCursor) {
			t.Errorf("tampered at %d: %v", i, err)
		}
	}
	if page, _, err := l.List(t.Context(), f, cursor, 5); err != nil || len(page) != 1 {
		t.Errorf("%d sessions, %v", len(page), err)
	}
}
