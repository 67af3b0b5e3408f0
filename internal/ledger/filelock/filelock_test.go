package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := filelock.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestModes(t *testing.T) {
	const s, x = filelock.Shared, filelock.Exclusive
	for _, c := range []struct {
		name        string
		held, other filelock.Mode
		want        error
	}{
		{"shared with shared", s, s, nil},
		{"exclusive against shared", s, x, filelock.ErrHeld},
		{"shared against exclusive", x, s, filelock.ErrHeld},
		{"exclusive against exclusive", x, x, filelock.ErrHeld},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.lock")
			a, b := open(t, path), open(t, path)
			if err := filelock.Lock(a, c.held); err != nil {
				t.Fatal(err)
			}
			if err := filelock.TryLock(b, c.other); !errors.Is(err, c.want) {
				t.Errorf("TryLock: %v, want %v", err, c.want)
			}
			if err := filelock.Unlock(a); err != nil {
				t.Fatal(err)
			}
			if err := filelock.TryLock(b, c.other); err != nil {
				t.Errorf("TryLock of a free lock: %v", err)
			}
		})
	}
}

func TestLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	a, b := open(t, path), open(t, path)
	if err := filelock.Lock(a, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	var released atomic.Bool
	done := make(chan error)
	go func() {
		err := filelock.Lock(b, filelock.Exclusive)
		if err == nil && !released.Load() {
			err = errors.New("locked while another had it")
		}
		done <- err
	}()
	released.Store(true)
	if err := filelock.Unlock(a); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestCloseReleases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	a, b := open(t, path), open(t, path)
	if err := filelock.Lock(a, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if err := filelock.TryLock(b, filelock.Exclusive); err != nil {
		t.Errorf("TryLock after Close: %v", err)
	}
}

func TestConvert(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	a, b := open(t, path), open(t, path)
	for _, m := range []filelock.Mode{filelock.Exclusive, filelock.Shared} {
		if err := filelock.Lock(a, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := filelock.TryLock(b, filelock.Shared); err != nil {
		t.Errorf("a lock converted to shared keeps others out: %v", err)
	}
}

func TestContentReadableWhileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	a := open(t, path)
	if err := filelock.Lock(a, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	if _, err := a.WriteString("who"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "who" {
		t.Errorf("content is %q, %v", got, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	f := open(t, filepath.Join(dir, "a.lock"))
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, want 0600", st.Mode().Perm())
	}
	if _, err := filelock.Open(filepath.Join(dir, "missing", "a.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a missing directory: %v", err)
	}
}
