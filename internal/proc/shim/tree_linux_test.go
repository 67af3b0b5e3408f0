package shim

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

func TestDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, _ := out.Read(buf)
	grandchild := atoi(string(buf[:n]))
	all := descendants()
	if !slices.Contains(all, cmd.Process.Pid) || !slices.Contains(all, grandchild) || slices.Contains(all, os.Getpid()) {
		t.Errorf("descendants %v, want %d and %d", all, cmd.Process.Pid, grandchild)
	}
	killTree(cmd.Process.Pid)
	_ = cmd.Wait()
}

func TestNumbers(t *testing.T) {
	for _, n := range []int{0, 7, 10, 4194304} {
		if got := itoa(n); got != strconv.Itoa(n) || atoi(got+" x") != n {
			t.Errorf("%d: %q", n, got)
		}
	}
	if atoi("proc") != 0 || atoi("") != 0 {
		t.Error("a word is a number")
	}
}
