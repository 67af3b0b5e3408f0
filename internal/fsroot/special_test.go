//go:build unix

package fsroot_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// TestZ5SpecialFilesNeverHang: a FIFO, a device or a socket is refused at once,
// also when it takes the place of a file that was judged.
func TestZ5SpecialFilesNeverHang(t *testing.T) {
	w := newTree(t)
	w.dir("work")
	if err := unix.Mkfifo(w.path("work/fifo"), 0o600); err != nil {
		t.Skip(err)
	}
	w.link("work/to-fifo", "fifo")
	w.link("work/device", "/dev/zero")
	s := w.session(fsroot.Options{})
	within(t, func() {
		for _, p := range []string{"fifo", "to-fifo"} {
			if _, err := read(s, p); !errors.Is(err, fsroot.ErrNotRegular) {
				t.Errorf("read %s: %v", p, err)
			}
			if err := write(s, p, "x"); !errors.Is(err, fsroot.ErrNotRegular) {
				t.Errorf("write %s: %v", p, err)
			}
		}
		if _, err := read(s, "device"); !errors.Is(err, fsroot.ErrOutside) {
			t.Errorf("device: %v", err)
		}
	})

	w.file("work/f", "f")
	target, err := s.Resolve("f")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if err := os.Rename(w.path("work/fifo"), w.path("work/f")); err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		if _, err := target.ReadFile(0); !errors.Is(err, fsroot.ErrNotRegular) {
			t.Errorf("a FIFO in the file's place: %v", err)
		}
	})
}

func TestSocketsAndDevicesInARoot(t *testing.T) {
	s := newTree(t).open(fsroot.Options{}, fsroot.Root{Path: "/dev", Writable: true, Name: fsroot.NameCwd})
	within(t, func() {
		if _, err := read(s, "zero"); !errors.Is(err, fsroot.ErrNotRegular) {
			t.Errorf("read /dev/zero: %v", err)
		}
		if err := write(s, "null", "x"); !errors.Is(err, fsroot.ErrNotRegular) {
			t.Errorf("write /dev/null: %v", err)
		}
	})
	w := newTree(t)
	w.dir("work")
	l, err := net.Listen("unix", filepath.Join(w.path("work"), "s"))
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	if _, err := read(w.session(fsroot.Options{}), "s"); !errors.Is(err, fsroot.ErrNotRegular) {
		t.Errorf("a socket: %v", err)
	}
}

// within fails the test when f takes longer than anything here may.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}

// TestFileSwappedForALink: a target keeps to what was judged.
func TestFileSwappedForALink(t *testing.T) {
	w := newTree(t)
	w.file("out/secret", "secret")
	w.file("work/sub/f", "f")
	s := w.session(fsroot.Options{})
	file, err := s.Resolve("sub/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := os.Remove(w.path("work/sub/f")); err != nil {
		t.Fatal(err)
	}
	w.link("work/sub/f", w.path("out/secret"))
	if data, err := file.ReadFile(0); err == nil {
		t.Errorf("read %q through the link", data)
	}
	if err := file.WriteFile([]byte("new"), fsroot.WriteOptions{}); err != nil {
		t.Errorf("write: %v", err)
	}
	if got := w.content("out/secret") + " " + w.content("work/sub/f"); got != "secret new" {
		t.Errorf("outside and inside hold %q", got)
	}
}

func TestDescriptorsAreReleased(t *testing.T) {
	w := newTree(t)
	w.file("work/a/b/c", "c")
	w.link("work/l", "a/b")
	w.link("work/escape", "/etc")
	s := w.session(fsroot.Options{})
	count := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(entries)
	}
	before := count()
	for range 50 {
		for _, p := range []string{"a/b/c", "l/c", "a/b", ".", "x/y", "escape/passwd", "l/../x", "../../..", w.path("work/a")} {
			_, _ = read(s, p)
			_ = write(s, p, "x")
			s.Look(p, "")
		}
	}
	if after := count(); after > before+2 {
		t.Errorf("%d descriptors became %d", before, after)
	}
}
