package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

// held is a file that another holder has locked, and a second opening of it.
func held(t *testing.T) (holder, f *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.lock")
	holder, f = open(t, path), open(t, path)
	if err := filelock.Lock(holder, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	return holder, f
}

func TestLockWithin(t *testing.T) {
	holder, f := held(t)
	if err := filelock.LockWithin(f, filelock.Shared, 10*time.Millisecond); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("a held lock: %v", err)
	}
	go func() { _ = filelock.Unlock(holder) }()
	if err := filelock.LockWithin(f, filelock.Exclusive, time.Minute); err != nil {
		t.Errorf("a lock that is let go: %v", err)
	}
}

func TestWaiter(t *testing.T) {
	holder, f := held(t)
	w := filelock.NewWaiter(f)
	for range 3 {
		if err := w.Lock(5 * time.Millisecond); !errors.Is(err, filelock.ErrHeld) {
			t.Fatalf("a held lock: %v", err)
		}
	}
	got := make(chan error)
	go func() { got <- w.Lock(time.Minute) }()
	if err := filelock.Unlock(holder); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatalf("a lock that is let go: %v", err)
	}
	if err := filelock.TryLock(holder, filelock.Exclusive); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("the waiter does not have it: %v", err)
	}
	if err := filelock.Unlock(f); err != nil {
		t.Fatal(err)
	}
	if err := w.Lock(0); err != nil {
		t.Errorf("a free lock: %v", err)
	}
}

// A lock that comes after its waiter has given up is let go.
func TestWaiterThatGaveUpKeepsNothing(t *testing.T) {
	holder, f := held(t)
	w := filelock.NewWaiter(f)
	if err := w.Lock(time.Millisecond); !errors.Is(err, filelock.ErrHeld) {
		t.Fatal(err)
	}
	if err := filelock.Unlock(holder); err != nil {
		t.Fatal(err)
	}
	if err := filelock.LockWithin(holder, filelock.Exclusive, time.Minute); err != nil {
		t.Errorf("the lock is not free again: %v", err)
	}
}

// Two waiters on two openings exclude each other, whatever their bounds.
func TestWaitersExclude(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	var wg sync.WaitGroup
	inside := make(chan struct{}, 1)
	for i := range 3 {
		f := open(t, path)
		w := filelock.NewWaiter(f)
		wg.Go(func() {
			for n := range 200 {
				if err := w.Lock(time.Duration(n%3*(i+1)) * 50 * time.Microsecond); err != nil {
					continue
				}
				select {
				case inside <- struct{}{}:
				default:
					t.Error("two have the lock")
				}
				<-inside
				if err := filelock.Unlock(f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
