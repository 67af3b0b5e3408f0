package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// readOnlyView mounts dir a second time, without the right to write, and
// returns where.
func readOnlyView(t *testing.T, dir string) string {
	t.Helper()
	view := filepath.Join(t.TempDir(), "view")
	if err := os.Mkdir(view, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(dir, view, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("mounting a read-only view: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(view, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	if err := unix.Mount("", view, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("mounting a read-only view: %v", err)
	}
	return view
}

// TestReadOnlyFileSystem reads a store where nothing can be written: one that
// nobody has open, and one that is being written to through another door.
func TestReadOnlyFileSystem(t *testing.T) {
	dir := t.TempDir()
	path := storeWith(t, dir, 5)
	view := readOnlyView(t, dir)
	seen := filepath.Join(view, "data", filepath.Base(path))
	if _, err := Open(t.Context(), seen, openInstance(t, dir)); !errors.Is(err, session.ErrReadOnly) {
		t.Errorf("Open: %v, want ErrReadOnly", err)
	}
	if got := countEvents(t, mustLookAt(t, seen), "s_1"); got != 5 {
		t.Errorf("%d events, want 5", got)
	}
	owner := mustReopen(t, path)
	fence, err := owner.Acquire(t.Context(), "s_1")
	if err == nil {
		_, err = owner.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(3)})
	}
	if err != nil {
		t.Fatal(err)
	}
	l := mustLookAt(t, seen)
	if got := countEvents(t, l, "s_1"); got != 8 {
		t.Errorf("%d events while another writes, want 8", got)
	}
	if info, err := l.Info(t.Context(), "s_1"); err != nil || !info.Active {
		t.Errorf("the session is active: %v, %v", info.Active, err)
	}
}

// TestReadOnlyLogWithoutMemory reads a copy whose log nobody may index: it is
// refused, for without its log it would be an older state.
func TestReadOnlyLogWithoutMemory(t *testing.T) {
	dir := t.TempDir()
	path := storeWith(t, dir, 5)
	owner := mustReopen(t, path)
	var log []byte
	for n := 0; len(log) == 0; n++ { // emptied when idle
		if _, err := owner.Create(t.Context(), session.Info{ID: fmt.Sprint("s_new", n)}); err != nil {
			t.Fatal(err)
		}
		log = readFile(t, path+walSuffix)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(filepath.Join(copied, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(copied, "data", filepath.Base(path))
	write(t, to, readFile(t, path))
	write(t, to+walSuffix, log)
	view := readOnlyView(t, copied)
	if _, err := lookAt(t, filepath.Join(view, "data", filepath.Base(path))); !errors.As(err, new(*UnreadableError)) {
		t.Errorf("OpenReadOnly: %v, want an UnreadableError", err)
	}
}
