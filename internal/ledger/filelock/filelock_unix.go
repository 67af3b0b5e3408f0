//go:build unix

package filelock

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock rather than fcntl: an fcntl lock is lost when any other descriptor of
// the file is closed in the process.
func lock(f *os.File, m Mode, wait bool) error {
	how := unix.LOCK_SH
	if m == Exclusive {
		how = unix.LOCK_EX
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return ErrHeld
		default:
			return pathError(f, "lock", err)
		}
	}
}

func unlock(f *os.File) error {
	return pathError(f, "unlock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
