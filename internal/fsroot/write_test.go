package fsroot_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// TestZ5WritesStayInside: whatever a path leads through, nothing outside the
// roots is created or changed.
func TestZ5WritesStayInside(t *testing.T) {
	w := newTree(t)
	w.file("work/a.txt", "old")
	w.file("work/sub/b.txt", "old")
	w.file("out/victim", "victim")
	w.dir("work-evil")
	w.link("work/new-outside", w.path("out/new"))
	w.link("work/victim", w.path("out/victim"))
	w.link("work/dirlink", w.path("out"))
	w.link("work/hop", "dirlink")
	w.link("work/in", "sub/b.txt")
	w.link("work/indir", "sub")
	w.link("work/later", "not-yet")
	s := w.session(fsroot.Options{})

	tests := []struct {
		path string
		err  error // nil: written
		at   string
	}{
		{"a.txt", nil, "work/a.txt"},
		{"new.txt", nil, "work/new.txt"},
		{"x/y/z.txt", nil, "work/x/y/z.txt"},
		{"in", nil, "work/sub/b.txt"},
		{"indir/c.txt", nil, "work/sub/c.txt"},
		{w.path("agent/note"), nil, "agent/note"},
		{"new-outside", fsroot.ErrOutside, ""},
		{"victim", fsroot.ErrOutside, ""},
		{"dirlink/x", fsroot.ErrOutside, ""},
		{"hop/x/y", fsroot.ErrOutside, ""},
		{w.path("work-evil/x"), fsroot.ErrOutside, ""},
		{w.path("work") + "/../out/x", fsroot.ErrOutside, ""},
		{"../out/x", fsroot.ErrOutside, ""},
		{"later", fsroot.ErrDangling, ""},
		{"later/x", fsroot.ErrDangling, ""},
		{"a\x00b", fsroot.ErrInvalid, ""},
		{"x/../y", nil, "work/y"},
		{"sub", fsroot.ErrNotRegular, ""},
		{".", fsroot.ErrNotRegular, ""},
	}
	for _, tt := range tests {
		err := write(s, tt.path, "new")
		if !errors.Is(err, tt.err) {
			t.Errorf("write %q: %v, want %v", tt.path, err, tt.err)
		}
		if tt.err == nil && w.content(tt.at) != "new" {
			t.Errorf("write %q: %s holds %q", tt.path, tt.at, w.content(tt.at))
		}
	}
	w.absent("out/new")
	w.absent("out/x")
	w.absent("work/not-yet")
	if got := w.content("out/victim"); got != "victim" {
		t.Errorf("the victim holds %q", got)
	}
	if entries, _ := os.ReadDir(w.path("work-evil")); len(entries) != 0 {
		t.Errorf("created %v", entries)
	}
	if info, err := os.Lstat(w.path("work/in")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link in the root was replaced: %v %v", info, err)
	}
	w.noLeftovers("work")
}

// noLeftovers finds temporary files a write left behind.
func (w *tree) noLeftovers(rel string) {
	w.t.Helper()
	_ = filepath.WalkDir(w.path(rel), func(p string, _ fs.DirEntry, _ error) error {
		if strings.HasPrefix(filepath.Base(p), ".grapnel-") {
			w.t.Errorf("left behind: %s", p)
		}
		return nil
	})
}

func TestWriteLeavesHardLinksAlone(t *testing.T) {
	w := newTree(t)
	w.file("out/shared", "old")
	w.dir("work")
	if err := os.Link(w.path("out/shared"), w.path("work/shared")); err != nil {
		t.Skip(err)
	}
	if err := write(w.session(fsroot.Options{}), "shared", "new"); err != nil {
		t.Fatal(err)
	}
	if got := w.content("out/shared") + " " + w.content("work/shared"); got != "old new" {
		t.Errorf("outside and inside hold %q", got)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no mode bits")
	}
	w := newTree(t)
	s := w.session(fsroot.Options{})
	for _, mode := range []fs.FileMode{0o755, 0o600, 0o640, 0o755 | fs.ModeSetgid} {
		p := w.file("work/f", "old")
		if err := os.Chmod(p, mode); err != nil {
			t.Fatal(err)
		}
		if err := write(s, "f", "new"); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Stat(p); info.Mode() != mode {
			t.Errorf("mode %v became %v", mode, info.Mode())
		}
	}
	if err := os.Chmod(w.path("work/f"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := write(s, "f", "newer"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a read-only file: %v", err)
	}
	target, err := s.Resolve("script")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if err := target.WriteFile(nil, fsroot.WriteOptions{Perm: 0o700}); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(w.path("work/script")); info.Mode().Perm() != 0o700 {
		t.Errorf("new file has mode %v", info.Mode())
	}
}

func TestWriteOptions(t *testing.T) {
	w := newTree(t)
	s := w.session(fsroot.Options{})
	w.file("work/f", "one")
	resolve := func(p string) *fsroot.Target {
		target, err := s.Resolve(p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { target.Close() })
		return target
	}
	strict := fsroot.WriteOptions{IfUnchanged: true}

	if err := resolve("no/dir/f").WriteFile(nil, strict); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing parents: %v", err)
	}
	changed, appeared, same := resolve("f"), resolve("g"), resolve("f")
	if err := same.WriteFile([]byte("two"), strict); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	w.file("work/g", "here first")
	for name, target := range map[string]*fsroot.Target{"changed": changed, "appeared": appeared} {
		if err := target.WriteFile([]byte("three"), strict); !errors.Is(err, fsroot.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	touched := resolve("f")
	if err := os.Chtimes(w.path("work/f"), time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := touched.WriteFile([]byte("four"), strict); !errors.Is(err, fsroot.ErrChanged) {
		t.Errorf("other time: %v", err)
	}
	if got := w.content("work/f") + " " + w.content("work/g"); got != "two here first" {
		t.Errorf("files hold %q", got)
	}
}

func TestReadOnlyRoot(t *testing.T) {
	w := newTree(t)
	w.file("docs/a", "a")
	s := w.open(fsroot.Options{},
		fsroot.Root{Path: w.dir("work"), Writable: true, Name: fsroot.NameCwd},
		fsroot.Root{Path: w.path("docs"), Name: fsroot.NameExtra},
		fsroot.Root{Path: w.path("absent"), Name: fsroot.NameExtra},
	)
	if got, err := read(s, w.path("docs/a")); err != nil || got != "a" {
		t.Errorf("read: %q, %v", got, err)
	}
	target, err := s.Resolve(w.path("docs/a"))
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	fresh, err := s.Resolve(w.path("docs/new"))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	for what, err := range map[string]error{
		"write": target.WriteFile(nil, fsroot.WriteOptions{}), "remove": target.Remove(), "mkdir": fresh.Mkdir(),
	} {
		if !errors.Is(err, fsroot.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if m := s.Missing(); len(m) != 1 || m[0] != w.path("absent") || len(s.Roots()) != 2 {
		t.Errorf("missing %v of roots %v", m, s.Roots())
	}
}

func TestMkdirAndRemove(t *testing.T) {
	w := newTree(t)
	w.file("out/victim", "v")
	w.file("work/f", "f")
	w.link("work/in", "f")
	s := w.session(fsroot.Options{})
	act := func(p string, do func(*fsroot.Target) error) error {
		target, err := s.Resolve(p)
		if err != nil {
			return err
		}
		defer target.Close()
		return do(target)
	}
	if err := act("a/b/c", (*fsroot.Target).Mkdir); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(w.path("work/a/b/c")); err != nil || !info.IsDir() {
		t.Errorf("%v %v", info, err)
	}
	if err := act("a", (*fsroot.Target).Mkdir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("mkdir of a directory: %v", err)
	}
	if err := act("a", (*fsroot.Target).Remove); !errors.Is(err, fsroot.ErrNotRegular) {
		t.Errorf("remove of a directory: %v", err)
	}
	if err := act("nothing", (*fsroot.Target).Remove); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove of nothing: %v", err)
	}
	if err := act("in", (*fsroot.Target).Remove); err != nil {
		t.Errorf("remove through a link: %v", err)
	}
	w.absent("work/f")
}
