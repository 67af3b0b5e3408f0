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
	err := control(f, func(fd int) error {
		for {
			if err := unix.Flock(fd, how); err != unix.EINTR {
				return err
			}
		}
	})
	if err == unix.EWOULDBLOCK {
		return ErrHeld
	}
	return pathError(f, "lock", err)
}

func unlock(f *os.File) error {
	return pathError(f, "unlock", control(f, func(fd int) error { return unix.Flock(fd, unix.LOCK_UN) }))
}

// control calls op with the descriptor of f, which stays f's even if f is closed
// meanwhile.
func control(f *os.File, op func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = op(int(fd)) }); err != nil {
		return err
	}
	return failed
}
