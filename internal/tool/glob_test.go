package tool

import (
	"path"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		yes, no string // blank separated
	}{
		{"*.go", "a.go x/a.go x/y/a.go .a.go", "a.gox a.go/b"},
		{"./*.go", "a.go", "x/a.go"},
		{"/*.go", "a.go", "x/a.go"},
		{"**/*.go", "a.go x/a.go x/y/a.go", "a.js"},
		{"src/**", "src/a src/x/a", "src a/src/b"},
		{"src/**/a", "src/a src/x/a src/x/y/a", "src/b a"},
		{"**/b/**/d", "b/d a/b/c/d b/b/d/d", "b d b/d/e"},
		{"a/*/c", "a/b/c", "a/c a/b/b/c"},
		{"?.[ch]", "a.c b.h", "ab.c a.x"},
		{"src/{a,b/c}/*.{ts,tsx}", "src/a/x.ts src/b/c/x.tsx", "src/b/x.ts src/a/x.js"},
		{"{a,{b,c}d}.x", "a.x bd.x cd.x", "b.x"},
		{`a\*`, "a*", "ab"},
		{"你/*.好", "你/a.好", "a/a.好"},
		{"**", "a a/b", ""},
	} {
		g, err := newGlob(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		for _, name := range strings.Fields(tc.yes) {
			if !g.match(name) {
				t.Errorf("%s does not match %s", tc.pattern, name)
			}
		}
		for _, name := range strings.Fields(tc.no) {
			if g.match(name) {
				t.Errorf("%s matches %s", tc.pattern, name)
			}
		}
	}
	for _, bad := range []string{"", "/", "[a", "{a", "a{b{c}", strings.Repeat("{a,b}", 10)} {
		if _, err := newGlob(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("**/*.{go,md}", "a/b.go")
	f.Add("**/**/**/a", "a/a/a/b")
	f.Add("{{{,}}}", "")
	f.Add("[", "[")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		g, err := newGlob(pattern)
		if err != nil {
			return
		}
		got := g.match(name)
		if strings.ContainsAny(pattern, "{}") || strings.Contains(pattern, "**") || !strings.Contains(pattern, "/") ||
			strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "./") || strings.HasSuffix(pattern, "/") {
			return
		}
		want, err := path.Match(pattern, name)
		if err == nil && got != want {
			t.Fatalf("match(%q, %q) = %v, path.Match says %v", pattern, name, got, want)
		}
	})
}
