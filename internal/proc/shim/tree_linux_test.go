package shim

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
)

func TestParentIn(t *testing.T) {
	for stat, want := range map[string]int{
		"12 (sh) S 7 12 12 0":       7,
		"12 (a) S 9 (b) R 3 1":      3,
		"12 (tmux: server) S 1 2\n": 1,
		"12 (sh) S":                 0,
		"12 sh S 7":                 0,
		"":                          0,
	} {
		if got := parentIn([]byte(stat)); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}

// No name a process gives itself hides it.
func FuzzParentIn(f *testing.F) {
	f.Add([]byte("a) S 1 (b"))
	f.Add([]byte("\n\x00)))"))
	f.Fuzz(func(t *testing.T, comm []byte) {
		stat := slices.Concat([]byte("12 ("), comm, []byte(") S 7 12 12 0 -1 4194560\n"))
		if got := parentIn(stat); got != 7 {
			t.Fatalf("%q: %d", stat, got)
		}
		_ = parentIn(comm)
	})
}

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
