package fsroot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// FuzzResolve builds a random tree of directories, files and links around two
// roots and compares Resolve with the system's own idea of where a path leads.
// Nothing outside the roots changes by writing to it.
func FuzzResolve(f *testing.F) {
	f.Add([]byte("da\x00fa/b\x00l a ../out/s"), "a/b")
	f.Add([]byte("la=../agent\x00lb=a"), "b/x")
	f.Add([]byte("lx=/\x00ly=x"), "y/etc/passwd")
	f.Add([]byte("la=b\x00lb=a"), "a")
	f.Add([]byte("la=../out\x00lb=a/.."), "b/work/new")
	f.Add([]byte("lforbidden/x=..\x00la=forbidden"), "a/y")
	f.Add([]byte("la=nowhere/x"), "a/y")
	f.Add([]byte("da/b\x00la/c=../../agent\x00fa/d"), "a/c/../d")
	f.Fuzz(func(t *testing.T, plan []byte, path string) {
		if len(plan) > 200 || len(path) > 100 || strings.ContainsAny(path, "\x00") || filepath.VolumeName(path) != "" {
			return
		}
		w := newTree(t)
		w.dir("work/forbidden")
		w.file("out/s", "outside")
		w.dir("agent")
		plant(w, plan)
		before := snapshot(t, w.path("out"))
		s := w.session(fsroot.Options{Forbidden: []string{w.path("work/forbidden")}})
		compare(t, w, s, path)
		_ = write(s, path, "new")
		if after := snapshot(t, w.path("out")); after != before {
			t.Errorf("writing %q changed what is outside:\n%s\nbecame\n%s", path, before, after)
		}
		if entries, _ := os.ReadDir(w.path("work/forbidden")); len(entries) > strings.Count(string(plan), "forbidden") {
			t.Errorf("writing %q left %v in the forbidden directory", path, entries)
		}
	})
}

// plant makes what the plan says below work: d name, f name, l name=target. It
// works through an os.Root, so that a plan cannot reach out of the test.
func plant(w *tree, plan []byte) {
	root, err := os.OpenRoot(w.path("work"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer root.Close()
	for _, line := range strings.Split(string(plan), "\x00") {
		if len(line) < 2 || strings.Contains(line, "..") && line[0] != 'l' {
			continue
		}
		name, target, _ := strings.Cut(line[1:], "=")
		name = strings.TrimPrefix(filepath.Join("/", name), "/")
		if strings.ContainsRune(name, 0) || !plantParents(root, name) {
			continue
		}
		switch line[0] {
		case 'd':
			_ = root.Mkdir(name, 0o755)
		case 'f':
			if f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
				f.Close()
			}
		case 'l':
			_ = root.Symlink(target, name)
		}
	}
}

// plantParents makes the directories above name. It follows no link.
func plantParents(root *os.Root, name string) bool {
	for i, c := range name {
		if c != '/' {
			continue
		}
		_ = root.Mkdir(name[:i], 0o755)
		if info, err := root.Lstat(name[:i]); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

func compare(t *testing.T, w *tree, s *fsroot.Set, path string) {
	full := path
	if !filepath.IsAbs(path) {
		full = w.path("work") + "/" + path
	}
	real, realErr := filepath.EvalSymlinks(full)
	target, err := s.Resolve(path)
	if err != nil {
		if realErr == nil && allowed(w, real) && path != "" && !strings.Contains(path, "..") {
			t.Errorf("%q leads to %s and was refused: %v", path, real, err)
		}
		return
	}
	defer target.Close()
	if !allowed(w, target.Abs) {
		t.Errorf("%q was resolved to %s", path, target.Abs)
	}
	if target.Exists && (realErr != nil || real != target.Abs) {
		t.Errorf("%q was resolved to %s; it leads to %s, %v", path, target.Abs, real, realErr)
	}
	if !target.Exists {
		if _, err := os.Lstat(target.Abs); err == nil {
			t.Errorf("%q was resolved to %s as missing", path, target.Abs)
		}
	}
	if got := filepath.Join(target.Root.Path, target.Rel); got != target.Abs {
		t.Errorf("%q: root and rest are %s, the whole is %s", path, got, target.Abs)
	}
}

func allowed(w *tree, abs string) bool {
	in := func(dir string) bool {
		return abs == w.path(dir) || strings.HasPrefix(abs, w.path(dir)+string(filepath.Separator))
	}
	return (in("work") || in("agent")) && !in("work/forbidden")
}

// snapshot describes a directory, times left out.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		content := ""
		if e.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = string(data)
		}
		fmt.Fprintf(&b, "%s %v %q\n", p, e.Type(), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
