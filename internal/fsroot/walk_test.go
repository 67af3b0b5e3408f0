package fsroot_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

func walk(t *testing.T, s *fsroot.Set, start string, opts fsroot.WalkOptions, fn func(*fsroot.Entry) error) ([]string, fsroot.WalkResult, error) {
	t.Helper()
	target, err := s.Resolve(start)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	var seen []string
	result, err := s.Walk(t.Context(), target, opts, func(e *fsroot.Entry) error {
		seen = append(seen, e.Path)
		if fn != nil {
			return fn(e)
		}
		return nil
	})
	return seen, result, err
}

func walkTree(t *testing.T) (*tree, *fsroot.Set) {
	w := newTree(t)
	w.file("work/a", "1")
	w.file("work/b/c", "2")
	w.file("work/b/d/e", "3")
	w.file("work/.git/config", "4")
	w.file("work/.secrets/key", "5")
	w.file("out/x", "6")
	w.link("work/z-in", "b/c")
	w.link("work/z-out", w.path("out/x"))
	w.link("work/z-outdir", w.path("out"))
	w.link("work/z-up", "..")
	return w, w.session(fsroot.Options{Forbidden: []string{w.path("work/.secrets")}})
}

func TestWalk(t *testing.T) {
	_, s := walkTree(t)
	opened := map[string]string{}
	seen, result, err := walk(t, s, ".", fsroot.WalkOptions{}, func(e *fsroot.Entry) error {
		f, err := e.Open()
		if err != nil {
			return nil
		}
		defer f.Close()
		data, _ := io.ReadAll(f)
		opened[e.Path] = string(data)
		return nil
	})
	if err != nil || result.Truncated || result.Unread != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	want := []string{".git", "a", "b", "b/c", "b/d", "b/d/e", "z-in", "z-out", "z-outdir", "z-up"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("seen (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b/c": "2", "b/d/e": "3", "z-in": "2"}, opened); diff != "" {
		t.Errorf("opened (-want +got)\n%s", diff)
	}
}

func TestWalkBounds(t *testing.T) {
	_, s := walkTree(t)
	seen, result, err := walk(t, s, "b", fsroot.WalkOptions{MaxDepth: 1}, nil)
	if err != nil || !result.Truncated || strings.Join(seen, " ") != "c d" {
		t.Errorf("depth: %v %+v %v", seen, result, err)
	}
	seen, result, err = walk(t, s, ".", fsroot.WalkOptions{MaxEntries: 3}, nil)
	if err != nil || !result.Truncated || len(seen) > 3 {
		t.Errorf("entries: %v %+v %v", seen, result, err)
	}
	seen, _, err = walk(t, s, ".", fsroot.WalkOptions{Skip: []string{"b"}}, nil)
	if got := strings.Join(seen, " "); err != nil || !strings.Contains(got, ".git/config") || strings.Contains(got, "b/c") {
		t.Errorf("skip: %v %v", got, err)
	}
}

func TestWalkEndsWhenTold(t *testing.T) {
	_, s := walkTree(t)
	seen, _, err := walk(t, s, ".", fsroot.WalkOptions{}, func(e *fsroot.Entry) error {
		switch e.Path {
		case "b":
			return fs.SkipDir
		case "z-out":
			return fsroot.ErrStop
		}
		return nil
	})
	if got := strings.Join(seen, " "); err != nil || got != ".git a b z-in z-out" {
		t.Errorf("%q, %v", got, err)
	}
	own := errors.New("own")
	if _, _, err := walk(t, s, ".", fsroot.WalkOptions{}, func(*fsroot.Entry) error { return own }); !errors.Is(err, own) {
		t.Errorf("the caller's error became %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	target, err := s.Resolve(".")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if _, err := s.Walk(ctx, target, fsroot.WalkOptions{}, func(*fsroot.Entry) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	file, err := s.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := s.Walk(t.Context(), file, fsroot.WalkOptions{}, nil); err == nil {
		t.Error("a file was walked")
	}
}

func TestReadDir(t *testing.T) {
	w := newTree(t)
	for i := range 600 {
		w.file(fmt.Sprintf("work/d/%03d", i), "")
	}
	s := w.session(fsroot.Options{})
	target, err := s.Resolve("d")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	for _, tt := range []struct {
		max, want int
		more      bool
	}{{1000, 600, false}, {600, 600, false}, {599, 599, true}, {1, 1, true}, {0, 0, true}} {
		entries, more, err := target.ReadDir(tt.max)
		if err != nil || len(entries) != tt.want || more != tt.more {
			t.Errorf("max %d: %d entries, more %v, %v", tt.max, len(entries), more, err)
		}
		for i := 1; i < len(entries); i++ {
			if entries[i-1].Name >= entries[i].Name {
				t.Fatalf("not sorted: %v", entries[i-1:i+1])
			}
		}
	}
}

func TestReadFileLimit(t *testing.T) {
	w := newTree(t)
	w.file("work/f", "12345")
	s := w.session(fsroot.Options{})
	for limit, want := range map[int64]error{0: nil, 4: fsroot.ErrTooLarge, 5: nil, 6: nil} {
		target, err := s.Resolve("f")
		if err != nil {
			t.Fatal(err)
		}
		if data, err := target.ReadFile(limit); !errors.Is(err, want) || want == nil && string(data) != "12345" {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
		target.Close()
	}
}

func TestLook(t *testing.T) {
	w, s := walkTree(t)
	looks := []struct {
		path, from, abs   string
		inRoot, forbidden bool
	}{
		{"b/c", "", "work/b/c", true, false},
		{"c", w.path("work/b"), "work/b/c", true, false},
		{"../a", w.path("work/b"), "work/a", true, false},
		{"z-out", "", "", false, false},
		{"../out/x", "", "out/x", false, false},
		{".secrets/key", "", "work/.secrets/key", false, true},
		{"new", "", "work/new", true, false},
	}
	for _, tt := range looks {
		p := s.Look(tt.path, tt.from)
		if p.InRoot != tt.inRoot || p.Forbidden != tt.forbidden || tt.abs != "" && p.Abs != w.path(tt.abs) {
			t.Errorf("look at %s from %q: %+v", tt.path, tt.from, p)
		}
	}
}
