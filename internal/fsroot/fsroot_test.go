package fsroot_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// tree is a world with a session's directories and things around them.
type tree struct {
	t    *testing.T
	base string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &tree{t, base}
}

func (w *tree) path(rel string) string { return filepath.Join(w.base, filepath.FromSlash(rel)) }

func (w *tree) dir(rel string) string {
	w.t.Helper()
	if err := os.MkdirAll(w.path(rel), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return w.path(rel)
}

func (w *tree) file(rel, content string) string {
	w.t.Helper()
	w.dir(filepath.Dir(rel))
	if err := os.WriteFile(w.path(rel), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return w.path(rel)
}

func (w *tree) link(rel, to string) {
	w.t.Helper()
	w.dir(filepath.Dir(rel))
	if err := os.Symlink(to, w.path(rel)); err != nil {
		w.t.Skipf("links cannot be made here: %v", err)
	}
}

func (w *tree) content(rel string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *tree) absent(rel string) {
	w.t.Helper()
	if _, err := os.Lstat(w.path(rel)); !errors.Is(err, fs.ErrNotExist) {
		w.t.Errorf("%s exists", rel)
	}
}

func (w *tree) open(opts fsroot.Options, roots ...fsroot.Root) *fsroot.Set {
	w.t.Helper()
	s, err := fsroot.Open(roots, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { s.Close() })
	return s
}

// session opens a set on work (cwd) and agent (workspace).
func (w *tree) session(opts fsroot.Options) *fsroot.Set {
	return w.open(opts,
		fsroot.Root{Path: w.dir("work"), Writable: true, Name: fsroot.NameCwd},
		fsroot.Root{Path: w.dir("agent"), Writable: true, Name: fsroot.NameWorkspace},
	)
}

func read(s *fsroot.Set, path string) (string, error) {
	t, err := s.Resolve(path)
	if err != nil {
		return "", err
	}
	defer t.Close()
	data, err := t.ReadFile(1 << 20)
	return string(data), err
}

func write(s *fsroot.Set, path, content string) error {
	t, err := s.Resolve(path)
	if err != nil {
		return err
	}
	defer t.Close()
	return t.WriteFile([]byte(content), fsroot.WriteOptions{MakeParents: true})
}
