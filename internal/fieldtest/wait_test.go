package fieldtest

import (
	"os"
	"os/exec"
	"slices"
	"strings"
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

// runs reports whether a process has the text in its command line. A process id
// would not do: in a sandbox a command knows itself by another.
func runs(t *testing.T, text string) bool {
	t.Helper()
	out, err := exec.Command("ps", "-e", "-ww", "-o", "args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(out), text)
}

// waitGone waits until no process has the text in its command line any more.
func waitGone(t *testing.T, text string) {
	t.Helper()
	waitFor(t, "the processes of "+text+" to be gone", func() bool { return !runs(t, text) })
}

func hasUpdate(list []Update, match func(Update) bool) bool { return slices.ContainsFunc(list, match) }
