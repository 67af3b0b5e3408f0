//go:build windows

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Locks on Windows are mandatory for the bytes they cover, so one byte far
// behind any content is locked and the content stays readable.
const lockOffset = 1 << 30

func region() *windows.Overlapped { return &windows.Overlapped{Offset: lockOffset} }

func lock(f *os.File, m Mode, wait bool) error {
	// Windows does not convert a lock: a second one by the same handle would
	// wait for the first.
	_ = unlock(f)
	var flags uint32
	if m == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, region())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return pathError(f, "lock", err)
}

func unlock(f *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region())
	return pathError(f, "unlock", err)
}
