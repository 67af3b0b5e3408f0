package app

import (
	"os"
	"os/signal"
	"syscall"
)

// hangups delivers SIGHUP, which then ends the process no more. A process that
// was started to ignore it goes on doing so.
func hangups() (asked <-chan os.Signal, forget func()) {
	c := make(chan os.Signal, 1)
	if signal.Ignored(syscall.SIGHUP) {
		return c, func() {}
	}
	signal.Ignore(syscall.SIGHUP) // takes it away from whoever ends the process by it
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// onSignal calls f at the next signal to end.
func onSignal(f func()) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-c; ok {
			f()
		}
	}()
	return func() {
		signal.Stop(c)
		close(c)
	}
}
