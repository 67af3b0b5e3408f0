package ledgertest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// listAll pages through a list.
func listAll(t *testing.T, l session.Ledger, f session.Filter, limit int) []session.Info {
	t.Helper()
	var all []session.Info
	cursor := ""
	for {
		page, next, err := l.List(t.Context(), f, cursor, limit)
		if err != nil {
			t.Fatalf("List(%+v, %q): %v", f, cursor, err)
		}
		if len(page) > limit {
			t.Fatalf("List returned %d sessions, limit %d", len(page), limit)
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		if len(page) == 0 {
			t.Fatal("an empty page has a next one")
		}
		cursor = next
	}
}

func testListPages(t *testing.T, l session.Ledger) {
	if got := listAll(t, l, session.Filter{}, 5); len(got) != 0 {
		t.Errorf("an empty store lists %v", ids(got))
	}
	var want []string
	for i := range 11 {
		in := session.Info{ID: fmt.Sprintf("s_%02d", i), Owner: "local", CreatedAt: epoch()}
		in.UpdatedAt = epoch().Add(time.Duration(i/3) * time.Nanosecond) // several at one time
		if _, err := l.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		want = append(want, in.ID)
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 5, 11, 100} {
		diff(t, fmt.Sprintf("list by %d", limit), want, ids(listAll(t, l, session.Filter{}, limit)))
	}
}

func testListFilters(t *testing.T, l session.Ledger) {
	for _, in := range []session.Info{
		{ID: "s_a", Owner: "local", Agent: "main", Cwd: "/w", Key: "k", Label: "l"},
		{ID: "s_b", Owner: "local", Agent: "other", Cwd: "/w/", Parent: "s_a"},
		{ID: "s_c", Owner: "bob", Agent: "main", Cwd: "/w", Key: "k", Archived: true},
		{ID: "s_d", Owner: "bob", Agent: "main", Cwd: "/W", Label: "l%"},
		{ID: "s_e", Owner: "local", Agent: "main", Cwd: "/s", Parent: "s_a", Subagent: true},
	} {
		in.CreatedAt, in.UpdatedAt = epoch(), epoch()
		if _, err := l.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	all := session.IncludeArchived
	for _, c := range []struct {
		filter session.Filter
		want   string
	}{
		{session.Filter{}, "s_d s_b s_a"},
		{session.Filter{Archived: all}, "s_d s_c s_b s_a"},
		{session.Filter{Archived: session.OnlyArchived}, "s_c"},
		{session.Filter{Owner: "bob"}, "s_d"},
		{session.Filter{Owner: "bob", Archived: all}, "s_d s_c"},
		{session.Filter{Cwd: "/w", Archived: all}, "s_c s_a"},
		{session.Filter{Cwd: "/w/"}, "s_b"},
		{session.Filter{Agent: "other"}, "s_b"},
		{session.Filter{Key: "k"}, "s_a"},
		{session.Filter{Label: "l%"}, "s_d"},
		{session.Filter{Parent: "s_a"}, "s_e s_b"},
		{session.Filter{Subagents: true}, "s_e s_d s_b s_a"},
		{session.Filter{Subagents: true, Archived: all}, "s_e s_d s_c s_b s_a"},
		{session.Filter{Cwd: "/s"}, ""},
		{session.Filter{Owner: "local", Agent: "main", Cwd: "/w"}, "s_a"},
		{session.Filter{Owner: "nobody"}, ""},
		{session.Filter{Cwd: "' OR '1'='1"}, ""},
	} {
		got := strings.Join(ids(listAll(t, l, c.filter, 1)), " ")
		if got != c.want {
			t.Errorf("List(%+v) = %q, want %q", c.filter, got, c.want)
		}
	}
	for id, want := range map[string]bool{"s_b": false, "s_e": true} {
		if info, err := l.Info(t.Context(), id); err != nil || info.Subagent != want || info.Parent != "s_a" {
			t.Errorf("Info(%s) = %+v, %v", id, info, err)
		}
	}
}

func testListBadCursor(t *testing.T, l session.Ledger) {
	create(t, l, "s_1")
	for _, cursor := range []string{"x", "!!", "AAAA", "\x00", strings.Repeat("A", 10000), "null"} {
		if _, _, err := l.List(t.Context(), session.Filter{}, cursor, 10); !errors.Is(err, session.ErrBadCursor) {
			t.Errorf("List with cursor %.20q: %v, want ErrBadCursor", cursor, err)
		}
	}
}

// testListWhileChanging checks that a cursor names a place, not an offset:
// sessions touched or deleted meanwhile neither repeat nor hide others.
func testListWhileChanging(t *testing.T, l session.Ledger) {
	for i := range 6 {
		in := session.Info{ID: fmt.Sprintf("s_%d", i), Owner: "local", UpdatedAt: epoch().Add(time.Duration(i) * time.Second)}
		if _, err := l.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	page, cursor, err := l.List(t.Context(), session.Filter{}, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "first page", []string{"s_5", "s_4"}, ids(page))
	if err := l.Delete(t.Context(), "s_4"); err != nil {
		t.Fatal(err)
	}
	now := epoch().Add(time.Hour)
	if err := l.Update(t.Context(), "s_2", 0, session.InfoChange{UpdatedAt: &now}); err != nil {
		t.Fatal(err)
	}
	rest, _, err := l.List(t.Context(), session.Filter{}, cursor, 10)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "rest", []string{"s_3", "s_1", "s_0"}, ids(rest))
}

// say stores a message of several chunks and its folded text.
func say(t *testing.T, l session.Ledger, id string, fence session.Fence, role string, parts ...string) session.Seq {
	t.Helper()
	events := make([]session.Event, len(parts))
	for i, p := range parts {
		events[i] = chunk(p)
	}
	before, err := l.Info(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	first := before.LastSeq + 1
	doc := session.Doc{Seq: first, Role: role, Text: strings.Join(parts, "")}
	if _, err := l.Append(t.Context(), id, fence, session.Batch{Events: events, Docs: []session.Doc{doc}}); err != nil {
		t.Fatal(err)
	}
	return first
}

func testSearchPhrase(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	say(t, l, "s_1", fence, "user", "what is it?")
	at := say(t, l, "s_1", fence, "assistant", "the quick br", "own f", "ox jumps ", "over it")
	for _, text := range []string{"brown fox", `"brown fox jumps"`, "BROWN", "jumps quick"} {
		hits, err := l.Search(t.Context(), text, session.Filter{}, 10)
		if err != nil {
			t.Fatalf("Search(%q): %v", text, err)
		}
		if len(hits) != 1 {
			t.Errorf("Search(%q): %d hits, want 1", text, len(hits))
			continue
		}
		h := hits[0]
		if h.Info.ID != "s_1" || h.Seq != at || h.Role != "assistant" || h.Info.LastSeq != 5 {
			t.Errorf("Search(%q) found %s at %d by %s (last %d)", text, h.Info.ID, h.Seq, h.Role, h.Info.LastSeq)
		}
		if !strings.Contains(h.Snippet, "«") || !strings.Contains(h.Snippet, "»") {
			t.Errorf("Search(%q): snippet %q marks nothing", text, h.Snippet)
		}
	}
	for _, text := range []string{"brown dog", `"fox brown"`, "absent"} {
		if hits, err := l.Search(t.Context(), text, session.Filter{}, 10); err != nil || len(hits) != 0 {
			t.Errorf("Search(%q): %d hits, %v, want none", text, len(hits), err)
		}
	}
	if hits, err := l.Search(t.Context(), "it", session.Filter{}, 1); err != nil || len(hits) != 1 {
		t.Errorf("Search with limit 1: %d hits, %v", len(hits), err)
	}
}

// testSearchHostile searches for text no query language expects: nothing may
// fail, and what has a word in it is found.
func testSearchHostile(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	say(t, l, "s_1", fence, "user", `it's a "quoted" foo-bar NEAR(x) AND * ünïcode C:\dir`)
	for text, want := range map[string]int{
		`it's`: 1, `"quoted"`: 1, `foo-bar`: 1, `foo"bar`: 1, `NEAR(`: 1, `AND`: 1, `AND OR NOT`: 0, `x)`: 1, `ünïcode`: 1, `C:\dir`: 1,
		`"`: 0, `""`: 0, `*`: 0, ``: 0, ` `: 0, "\x00": 0, "it\x00a": 1, "\xff\xfe": 0, `-foo`: 1, `text:foo`: 0, `^it`: 1, `{a}`: 1, `"a" "it`: 1,
		`'; DROP TABLE sessions; --`: 0, strings.Repeat("a ", 5000): 1, strings.Repeat(`"`, 999): 0, "日本語": 0,
	} {
		hits, err := l.Search(t.Context(), text, session.Filter{}, 10)
		if err != nil || len(hits) != want {
			t.Errorf("Search(%.40q): %d hits, %v, want %d", text, len(hits), err, want)
		}
	}
}

func testSearchFilters(t *testing.T, l session.Ledger) {
	for _, in := range []session.Info{
		{ID: "s_a", Owner: "local", Cwd: "/a"}, {ID: "s_b", Owner: "bob", Cwd: "/a"}, {ID: "s_c", Owner: "local", Cwd: "/c", Archived: true},
	} {
		fence, err := l.Create(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		say(t, l, in.ID, fence, "user", "needle")
	}
	for want, f := range map[string]session.Filter{
		"s_a s_b":     {},
		"s_a":         {Owner: "local"},
		"s_b":         {Owner: "bob", Cwd: "/a"},
		"s_c":         {Archived: session.OnlyArchived},
		"s_a s_b s_c": {Archived: session.IncludeArchived},
		"":            {Owner: "eve"},
	} {
		hits, err := l.Search(t.Context(), "needle", f, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Info.ID)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("Search(%+v) found %v, want %q", f, got, want)
		}
	}
}

func testSearchReplaces(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	for _, text := range []string{"first draft", "second version"} {
		_, err := l.Append(t.Context(), "s_1", fence, session.Batch{Docs: []session.Doc{{Seq: 1, Role: "assistant", Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]int{"draft": 0, "version": 1} {
		if hits, err := l.Search(t.Context(), text, session.Filter{}, 10); err != nil || len(hits) != want {
			t.Errorf("Search(%q): %d hits, %v, want %d", text, len(hits), err, want)
		}
	}
}
