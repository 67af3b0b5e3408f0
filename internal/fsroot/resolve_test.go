package fsroot_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

func TestResolveReads(t *testing.T) {
	w := newTree(t)
	w.file("work/a.txt", "a")
	w.file("work/sub/b.txt", "b")
	w.file("agent/IDENTITY.md", "me")
	w.file("out/secret", "s")
	w.file("work-evil/x", "e")
	w.link("work/in", "sub/b.txt")
	w.link("work/subdir", "sub")
	w.link("work/sub/upward", "../a.txt")
	w.link("work/across", w.path("agent"))
	w.link("work/abs", w.path("work/sub"))
	w.link("work/escape", w.path("out/secret"))
	w.link("work/escapedir", "../out")
	w.link("work/dangling", "nowhere")
	w.link("work/loop", "loop")
	w.link("work/there-and-back", "../out/../work/a.txt")
	w.link("alias", w.path("work"))
	s := w.session(fsroot.Options{})

	tests := []struct {
		path string
		want string
		err  error
	}{
		{path: "a.txt", want: "a"},
		{path: "./sub//b.txt", want: "b"},
		{path: w.path("work/a.txt"), want: "a"},
		{path: w.path("agent/IDENTITY.md"), want: "me"},
		{path: "sub/../a.txt", want: "a"},
		{path: "in", want: "b"},
		{path: "subdir/b.txt", want: "b"},
		{path: "sub/upward", want: "a"},
		{path: "across/IDENTITY.md", want: "me"},
		{path: "abs/b.txt", want: "b"},
		{path: "there-and-back", want: "a"},
		{path: w.path("alias/a.txt"), want: "a"},
		{path: "../agent/IDENTITY.md", want: "me"},
		{path: "missing", err: fs.ErrNotExist},
		{path: "a.txt/x", err: fs.ErrNotExist},
		{path: "escape", err: fsroot.ErrOutside},
		{path: "escapedir/secret", err: fsroot.ErrOutside},
		{path: "escapedir/none", err: fsroot.ErrOutside},
		{path: "../out/secret", err: fsroot.ErrOutside},
		{path: "sub/../../out/secret", err: fsroot.ErrOutside},
		{path: w.path("work-evil/x"), err: fsroot.ErrOutside},
		{path: w.path("work") + "/../out/secret", err: fsroot.ErrOutside},
		{path: w.path("out/nothing"), err: fsroot.ErrOutside},
		{path: "/", err: fsroot.ErrOutside},
		{path: "dangling", err: fsroot.ErrDangling},
		{path: "loop", err: fsroot.ErrInvalid},
		{path: "subdir/../a.txt", err: fsroot.ErrInvalid},
		{path: "across/../work/a.txt", err: fsroot.ErrInvalid},
		{path: "missing/../a.txt", err: fsroot.ErrInvalid},
		{path: "", err: fsroot.ErrInvalid},
		{path: "a\x00b", err: fsroot.ErrInvalid},
		{path: "sub", err: fsroot.ErrNotRegular},
		{path: ".", err: fsroot.ErrNotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got, err := read(s, tt.path)
			if tt.path == "a.txt/x" {
				if err == nil || !strings.Contains(err.Error(), "a.txt/x") {
					t.Fatalf("read below a file: %q, %v; want an error naming the path", got, err)
				}
				return
			}
			if !errors.Is(err, tt.err) || got != tt.want {
				t.Fatalf("read %q = %q, %v; want %q, %v", tt.path, got, err, tt.want, tt.err)
			}
			var pe *fsroot.PathError
			if tt.err != nil && errors.As(err, &pe) && pe.Path != tt.path {
				t.Errorf("the error names %q, want %q", pe.Path, tt.path)
			}
		})
	}
}

func TestTargetTellsWhereItIs(t *testing.T) {
	w := newTree(t)
	w.file("work/sub/b.txt", "b")
	w.dir("agent")
	w.link("work/across", w.path("agent"))
	s := w.session(fsroot.Options{})
	tests := []struct {
		path, root, rel, abs string
		exists               bool
	}{
		{"sub/b.txt", "cwd", "sub/b.txt", "work/sub/b.txt", true},
		{".", "cwd", ".", "work", true},
		{"sub", "cwd", "sub", "work/sub", true},
		{"new/deep/x", "cwd", "new/deep/x", "work/new/deep/x", false},
		{"across/note", "workspace", "note", "agent/note", false},
		{"across", "workspace", ".", "agent", true},
	}
	for _, tt := range tests {
		target, err := s.Resolve(tt.path)
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		if target.Root.Name != tt.root || target.Rel != tt.rel || target.Abs != w.path(tt.abs) || target.Exists != tt.exists {
			t.Errorf("%s = root %s rel %s abs %s exists %v; want %+v",
				tt.path, target.Root.Name, target.Rel, target.Abs, target.Exists, tt)
		}
		target.Close()
	}
}

func TestForbiddenWinsOverRoots(t *testing.T) {
	w := newTree(t)
	w.file("work/ok", "ok")
	w.file("work/.secrets/key", "k")
	w.file("elsewhere/key", "k")
	w.file("work/token", "t")
	w.link("work/alias", ".secrets")
	w.link("linked", w.path("work"))
	if err := os.Link(w.path("work/token"), w.path("work/copy")); err != nil {
		t.Skip(err)
	}
	s := w.session(fsroot.Options{
		Forbidden: []string{w.path("work/.secrets"), w.path("work/later"), w.path("linked/other/x")},
		Own:       []string{w.path("work/token")},
	})
	for _, p := range []string{".secrets/key", "alias/key", ".secrets", "token", "copy", "later", "later/x", "other/x"} {
		if _, err := s.Resolve(p); !errors.Is(err, fsroot.ErrForbidden) {
			t.Errorf("%s: %v, want ErrForbidden", p, err)
		}
	}
	if got, err := read(s, "ok"); err != nil || got != "ok" {
		t.Errorf("ok = %q, %v", got, err)
	}
}

func TestCwdUnderForbiddenIsTheOnlyException(t *testing.T) {
	w := newTree(t)
	w.file("etc/app/conf", "c")
	w.file("etc/shadow", "s")
	w.file("etc/app/own", "o")
	s := w.open(fsroot.Options{Forbidden: []string{w.path("etc")}, Own: []string{w.path("etc/app/own")}},
		fsroot.Root{Path: w.path("etc/app"), Writable: true, Name: fsroot.NameCwd},
		fsroot.Root{Path: w.path("etc"), Name: fsroot.NameExtra},
	)
	if got, err := read(s, "conf"); err != nil || got != "c" {
		t.Errorf("conf = %q, %v", got, err)
	}
	for _, p := range []string{"own", w.path("etc/shadow"), w.path("etc")} {
		if _, err := s.Resolve(p); !errors.Is(err, fsroot.ErrForbidden) {
			t.Errorf("%s: %v, want ErrForbidden", p, err)
		}
	}
}

func TestAnywhereStillForbids(t *testing.T) {
	w := newTree(t)
	w.file("out/free", "f")
	w.file("out/ssh/key", "k")
	s := w.session(fsroot.Options{Anywhere: true, Forbidden: []string{w.path("out/ssh")}})
	target, err := s.Resolve(w.path("out/free"))
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if target.InRoot() || target.Root.Name != fsroot.NameOutside {
		t.Errorf("root = %+v, want outside", target.Root)
	}
	if _, err := s.Resolve(w.path("out/ssh/key")); !errors.Is(err, fsroot.ErrForbidden) {
		t.Errorf("forbidden: %v", err)
	}
}

func TestVanishedCwd(t *testing.T) {
	w := newTree(t)
	w.file("work/a", "a")
	s := w.session(fsroot.Options{})
	if err := os.Rename(w.path("work"), w.path("moved")); err != nil {
		t.Fatal(err)
	}
	for _, replaced := range []bool{false, true} {
		if replaced {
			w.dir("work")
		}
		_, err := s.Resolve("a")
		if !errors.Is(err, fsroot.ErrGone) || !strings.Contains(err.Error(), w.path("work")) {
			t.Errorf("replaced %v: %v, want ErrGone naming the directory", replaced, err)
		}
	}
}

func TestClosedSet(t *testing.T) {
	w := newTree(t)
	w.file("work/a", "a")
	s := w.session(fsroot.Options{})
	target, err := s.Resolve("a")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	s.Close()
	if _, err := s.Resolve("a"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("resolve after close: %v", err)
	}
	if data, err := target.ReadFile(0); err != nil || string(data) != "a" {
		t.Errorf("a target outlives its set: %q, %v", data, err)
	}
}
