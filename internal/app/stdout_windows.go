package app

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// TakeStdout keeps the real standard output for the protocol and points what
// everything else in the process writes to at standard error. It is called
// once, before anything can print.
func TakeStdout() (*os.File, error) {
	out := os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("point standard output at standard error: %w", err)
	}
	os.Stdout = os.Stderr
	return out, nil
}
