//go:build unix

package acpclient

import (
	"os"
	"os/signal"
	"syscall"
)

// resized tells when the size of the terminal has changed, until stop.
func resized() (changes <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	return c, func() { signal.Stop(c) }
}
