package filelock

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// LockWithin is Lock with an end: ErrHeld when another holder has the lock for
// all of bound, as a stopped process does. It looks again and again, so it is for
// locks that are free nearly always.
func LockWithin(f *os.File, m Mode, bound time.Duration) error {
	start := time.Now()
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		err := TryLock(f, m)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		if time.Since(start) >= bound {
			return heldFor(bound)
		}
		time.Sleep(pause)
	}
}

func heldFor(bound time.Duration) error { return fmt.Errorf("%w for %s", ErrHeld, bound) }

// Waiter takes one file's exclusive lock, again and again, each time within a
// bound and with no delay when it is let go. Its lock is for one goroutine at a
// time.
type Waiter struct {
	f *os.File

	mu     sync.Mutex
	asked  chan error // a wait under way that will tell how it ended; nil when none is
	wanted bool       // somebody waits for it
}

// NewWaiter returns a Waiter for the lock on f. Unlock lets it go.
func NewWaiter(f *os.File) *Waiter { return &Waiter{f: f} }

// Lock waits for the lock: ErrHeld when another holder has it for all of bound.
// The wait, which the system does not take back, then goes on unseen, and what
// comes of it is for the next Lock or let go at once.
func (w *Waiter) Lock(bound time.Duration) error {
	asked, err := w.ask()
	if asked == nil {
		return err
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case err := <-asked:
		return err
	case <-timer.C:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case err := <-asked: // just now
		return err
	default:
	}
	w.wanted = false
	return heldFor(bound)
}

// ask takes the lock if it is free; else it returns what tells when it is.
func (w *Waiter) ask() (chan error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		if err := TryLock(w.f, Exclusive); !errors.Is(err, ErrHeld) {
			return nil, err
		}
		w.asked = make(chan error, 1)
		go w.wait(w.asked)
	}
	w.wanted = true
	return w.asked, nil
}

func (w *Waiter) wait(asked chan error) {
	err := Lock(w.f, Exclusive)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = nil
	if w.wanted {
		w.wanted = false
		asked <- err
	} else if err == nil {
		_ = Unlock(w.f) // it ends with the file at the latest
	}
}
