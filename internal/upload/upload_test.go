package upload_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

// sum is the SHA-256 of "hello".
const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func newStore(t *testing.T, opts fsroot.Options) upload.Store {
	t.Helper()
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := fsroot.Open([]fsroot.Root{{Path: cwd, Name: fsroot.NameCwd, Writable: true}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roots.Close() })
	return upload.Store{Roots: roots, Cwd: cwd}
}

func TestSave(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	got, err := s.Save(upload.File{Data: []byte("hello"), Name: "file:///tmp/my%20notes.TXT", MimeType: "image/png"})
	want := upload.Saved{
		Path: filepath.Join(s.Cwd, "uploads", sum+".txt"), SHA256: sum, Name: "my notes.TXT", MimeType: "text/plain",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if data, err := os.ReadFile(got.Path); string(data) != "hello" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := os.Stat(got.Path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	if got, want := got.Text(), "[Document: my notes.TXT] "+want.Path; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheTrueTypeNamesAnImage(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	png := []byte("\x89PNG\r\n\x1a\nrest")
	got, err := s.Save(upload.File{Data: png, Name: "holiday.jpeg", MimeType: "image/jpeg"})
	if err != nil || got.MimeType != "image/png" || filepath.Ext(got.Path) != ".png" || got.Text() != "[IMAGE: "+got.Path+"]" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSaveAgainWritesNothing(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	f := upload.File{Data: []byte("hello"), Name: "a.txt"}
	first, err := s.Save(f)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(first.Path)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := s.Save(f); err != nil || second != first {
		t.Errorf("%+v, %v", second, err)
	}
	after, err := os.Stat(first.Path)
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("it was written again: %v", err)
	}
}

func TestSaveReplacesWhatOnlyHasTheName(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	f := upload.File{Data: []byte("hello"), Name: "a.txt"}
	first, err := s.Save(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first.Path, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(first); err == nil || !strings.Contains(err.Error(), "changed since it was kept") {
		t.Errorf("a changed file was read: %v", err)
	}
	if _, err := s.Save(f); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Read(first); err != nil || string(data) != "hello" {
		t.Errorf("%q, %v", data, err)
	}
}

func TestSaveAtOnce(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.Save(upload.File{Data: []byte("hello"), Name: "a.txt"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	files, err := os.ReadDir(filepath.Join(s.Cwd, "uploads"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestLimit(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	if _, err := s.Save(upload.File{Data: make([]byte, upload.MaxBytes)}); err != nil {
		t.Error(err)
	}
	_, err := s.Save(upload.File{Data: make([]byte, upload.MaxBytes+1), Name: "big.bin"})
	if !errors.Is(err, upload.ErrTooLarge) || !strings.Contains(err.Error(), "big.bin is too large") {
		t.Errorf("one byte more: %v", err)
	}
}

// TestWhatStandsInTheWay: links are not followed, files are not replaced by a
// directory, and the error names what to mend.
func TestWhatStandsInTheWay(t *testing.T) {
	outside := t.TempDir()
	for name, prepare := range map[string]func(s upload.Store) error{
		"a link out":         func(s upload.Store) error { return os.Symlink(outside, filepath.Join(s.Cwd, "uploads")) },
		"a dangling link":    func(s upload.Store) error { return os.Symlink("nowhere", filepath.Join(s.Cwd, "uploads")) },
		"a file":             func(s upload.Store) error { return os.WriteFile(filepath.Join(s.Cwd, "uploads"), nil, 0o600) },
		"a link inside":      func(s upload.Store) error { return linkTo(s, "elsewhere") },
		"the file is a link": func(s upload.Store) error { return fileLink(s, outside) },
	} {
		s := newStore(t, fsroot.Options{})
		if err := prepare(s); err != nil {
			t.Fatal(err)
		}
		_, err := s.Save(upload.File{Data: []byte("hello"), Name: "a.txt"})
		if err == nil || !strings.Contains(err.Error(), "a.txt cannot be kept: "+filepath.Join(s.Cwd, "uploads")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
		t.Errorf("written outside: %v, %v", files, err)
	}
	if data, err := os.ReadFile(filepath.Join(outside, "target")); err != nil || string(data) != "theirs" {
		t.Errorf("%q, %v", data, err)
	}
}

func linkTo(s upload.Store, dir string) error {
	if err := os.Mkdir(filepath.Join(s.Cwd, dir), 0o700); err != nil {
		return err
	}
	return os.Symlink(dir, filepath.Join(s.Cwd, "uploads"))
}

func fileLink(s upload.Store, outside string) error {
	target := filepath.Join(outside, "target")
	if err := os.WriteFile(target, []byte("theirs"), 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(s.Cwd, "uploads"), 0o700); err != nil {
		return err
	}
	return os.Symlink(target, filepath.Join(s.Cwd, "uploads", sum+".txt"))
}

// TestForbiddenDirectory: a session that was started in a forbidden place still
// takes files; below another one it does not.
func TestForbiddenDirectory(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	own, err := fsroot.Open(
		[]fsroot.Root{{Path: s.Cwd, Name: fsroot.NameCwd, Writable: true}},
		fsroot.Options{Forbidden: []string{s.Cwd}},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if _, err := (upload.Store{Roots: own, Cwd: s.Cwd}).Save(upload.File{Data: []byte("hello")}); err != nil {
		t.Error(err)
	}
	barred, err := fsroot.Open(
		[]fsroot.Root{{Path: s.Cwd, Name: fsroot.NameCwd, Writable: true}},
		fsroot.Options{Forbidden: []string{filepath.Join(s.Cwd, "uploads")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer barred.Close()
	if _, err := (upload.Store{Roots: barred, Cwd: s.Cwd}).Save(upload.File{Data: []byte("hello")}); !errors.Is(err, fsroot.ErrForbidden) {
		t.Error(err)
	}
}

func TestReadOnlyRoot(t *testing.T) {
	s := newStore(t, fsroot.Options{})
	roots, err := fsroot.Open([]fsroot.Root{{Path: s.Cwd, Name: fsroot.NameCwd}}, fsroot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer roots.Close()
	_, err = (upload.Store{Roots: roots, Cwd: s.Cwd}).Save(upload.File{Data: []byte("hello"), Name: "a.txt"})
	if !errors.Is(err, fsroot.ErrReadOnly) {
		t.Error(err)
	}
}
