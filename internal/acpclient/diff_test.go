package acpclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnified(t *testing.T) {
	numbered := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "%d\n", i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"same":     {"a\n", "a\n", nil},
		"new file": {"", "a\nb\n", []string{"@@ -1 +1 @@", "+a", "+b"}},
		"emptied":  {"a\n", "", []string{"@@ -1 +1 @@", "-a"}},
		"changed":  {"a\nb\nc\n", "a\nB\nc\n", []string{"@@ -1 +1 @@", " a", "-b", "+B", " c"}},
		"far apart": {
			numbered(1, 20), strings.Replace(strings.Replace(numbered(1, 20), "2\n", "two\n", 1), "18\n", "x\n", 1),
			[]string{"@@ -1 +1 @@", " 1", "-2", "+two", " 3", " 4", " 5", "@@ -15 +15 @@", " 15", " 16", " 17", "-18", "+x", " 19", " 20"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, unified(c.before, c.after, 100)); d != "" {
				t.Error(d)
			}
		})
	}
	long := unified("", numbered(1, 5000), 10)
	if len(long) != 11 || long[10] != "@@ 4991 more lines @@" {
		t.Errorf("%q", long)
	}
	if got := unified(numbered(1, 3000), numbered(4000, 7000), 10); len(got) != 11 {
		t.Errorf("too much to compare: %q", got)
	}
}

// FuzzCompare finds both texts again in what was compared.
func FuzzCompare(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x")
	f.Add("a\na\na\n", "a\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := split(before), split(after)
		var gotA, gotB []string
		for _, e := range compare(a, b) {
			if e.op != '+' {
				gotA = append(gotA, e.text)
			}
			if e.op != '-' {
				gotB = append(gotB, e.text)
			}
		}
		if !cmp.Equal(a, gotA) || !cmp.Equal(b, gotB) {
			t.Errorf("%q and %q became %q and %q", a, b, gotA, gotB)
		}
		for _, line := range unified(before, after, 50) {
			if line == "" {
				t.Error("a line without a mark")
			}
		}
	})
}
