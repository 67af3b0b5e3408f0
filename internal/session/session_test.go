package session_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestIDs(t *testing.T) {
	form := regexp.MustCompile(`^e_[a-z2-7]{26}$`)
	many := session.IDs{Prefix: "e"}
	seen := map[string]bool{}
	for range 200 {
		for _, id := range []string{session.NewID("e"), many.Next()} {
			if !form.MatchString(id) || seen[id] {
				t.Fatalf("bad or repeated id %q", id)
			}
			seen[id] = true
		}
	}
	if id := session.NewID("a_much_longer_prefix"); len(id) != len("a_much_longer_prefix")+27 {
		t.Errorf("got %q", id)
	}
}

func TestInfoChange(t *testing.T) {
	str := func(s string) *string { return &s }
	yes, when := true, time.Unix(5, 0)
	c := session.InfoChange{Title: str("one"), Cwd: str("/a"), TitleSet: &yes}
	c.Merge(session.InfoChange{Title: str("two"), UpdatedAt: &when, Roots: &[]string{"/r"}})
	info := session.Info{ID: "s_1", Label: "kept", Cwd: "/old"}
	c.Apply(&info)
	want := session.Info{ID: "s_1", Label: "kept", Cwd: "/a", Title: "two", TitleSet: true, UpdatedAt: when, Roots: []string{"/r"}}
	if d := cmp.Diff(want, info); d != "" {
		t.Error(d)
	}
}
