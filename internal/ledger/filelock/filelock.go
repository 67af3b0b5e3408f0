// Package filelock holds advisory locks on whole files: between processes, and
// between two opens of one file in a process. A lock ends with the process that
// holds it, however that process ends.
package filelock

import (
	"errors"
	"os"
)

// Mode says who else may hold the lock.
type Mode int

const (
	// Shared locks exclude only exclusive ones.
	Shared Mode = iota
	// Exclusive locks exclude all others.
	Exclusive
)

// ErrHeld reports that another holder has the lock.
var ErrHeld = errors.New("lock is held by another")

// filePerm is for lock files: they name sockets and processes, so they are the
// user's own.
const filePerm = 0o600

// Open opens path for locking, creating it when it is missing.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
}

// Lock waits for a lock on f. A lock f already has is converted, which lets go
// of it for a moment.
func Lock(f *os.File, m Mode) error { return lock(f, m, true) }

// TryLock is Lock without waiting: ErrHeld when it would have to.
func TryLock(f *os.File, m Mode) error { return lock(f, m, false) }

// Unlock gives the lock up. Closing f does so too.
func Unlock(f *os.File) error { return unlock(f) }

func pathError(f *os.File, op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: f.Name(), Err: err}
}
