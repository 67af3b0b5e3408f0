package fieldtest

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// waitFor polls a condition outside the protocol, such as a file of a command.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func fileSize(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// waitGone waits until no process has the pid.
func waitGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("pid %q: %v", pid, err)
	}
	waitFor(t, "process "+pid+" to be gone", func() bool {
		p, err := os.FindProcess(n)
		return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
	})
}

func hasUpdate(list []Update, match func(Update) bool) bool { return slices.ContainsFunc(list, match) }
