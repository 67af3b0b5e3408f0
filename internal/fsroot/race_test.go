package fsroot_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// TestZ5RaceWithSwappedDirectory swaps a directory of the root for a link out of
// it, and back, while files below it are read, written and listed. Nothing
// outside is read or changes.
func TestZ5RaceWithSwappedDirectory(t *testing.T) {
	w := newTree(t)
	w.file("out/f", "outside")
	w.file("work/d/f", "inside")
	w.link("work/l", w.path("out"))
	s := w.session(fsroot.Options{})

	stop := make(chan struct{})
	var swapping, working sync.WaitGroup
	swapping.Go(func() { swap(w, stop) })
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	for range 3 {
		working.Go(func() {
			for i := range rounds {
				for range 10 {
					if got, err := read(s, "d/f"); err == nil && got != "inside" {
						t.Errorf("read %q", got)
					}
				}
				_ = write(s, "d/f", "inside")
				_ = write(s, "d/new/f", "inside")
				if i%10 == 0 {
					walkAll(t, s)
				}
			}
		})
	}
	working.Wait()
	close(stop)
	swapping.Wait()

	if got := w.content("out/f"); got != "outside" {
		t.Errorf("outside holds %q", got)
	}
	if entries, _ := os.ReadDir(w.path("out")); len(entries) != 1 {
		t.Errorf("outside holds %v", entries)
	}
}

// swap exchanges work/d and the link work/l until told to stop, at once where
// the system can.
func swap(w *tree, stop chan struct{}) {
	d, l, aside := w.path("work/d"), w.path("work/l"), filepath.Join(w.base, "aside")
	for {
		select {
		case <-stop:
			return
		default:
		}
		if exchange(d, l) != nil {
			_ = os.Rename(d, aside)
			_ = os.Rename(l, d)
			_ = os.Rename(aside, l)
		}
	}
}

func walkAll(t *testing.T, s *fsroot.Set) {
	root, err := s.Resolve(".")
	if err != nil {
		t.Errorf("the root: %v", err)
		return
	}
	defer root.Close()
	_, err = s.Walk(t.Context(), root, fsroot.WalkOptions{}, func(e *fsroot.Entry) error {
		f, err := e.Open()
		if err != nil {
			return nil
		}
		defer f.Close()
		head := make([]byte, 16)
		if n, _ := f.Read(head); e.Name == "f" && string(head[:n]) == "outside" {
			t.Errorf("the walk read outside by %s", e.Path)
		}
		return nil
	})
	if err != nil {
		t.Errorf("walk: %v", err)
	}
}
