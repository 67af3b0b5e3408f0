//go:build unix

package app

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// TakeStdout keeps the real standard output for the protocol and points
// descriptor 1, which everything else in the process writes to, at standard
// error. It is called once, before anything can print.
func TakeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(os.Stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep standard output for the protocol: %w", err)
	}
	if err := dup2(int(os.Stderr.Fd()), int(os.Stdout.Fd())); err != nil {
		return nil, fmt.Errorf("point standard output at standard error: %w", err)
	}
	return os.NewFile(uintptr(fd), "stdout"), nil
}
