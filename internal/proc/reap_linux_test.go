package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/proc/lease"
)

// innocent is a process that is none of ours.
func innocent(t *testing.T, env ...string) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	return cmd.Process.Pid
}

// writeRecord makes the record that a dead instance would have left.
func writeRecord(t *testing.T, dir, id string, h lease.Head, children ...lease.Child) string {
	t.Helper()
	path := filepath.Join(dir, id+lease.Suffix)
	f, err := lease.Create(path, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range children {
		if _, err := f.Put(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// A number in a record names a process only together with its start, its boot
// and its space of numbers, and only of an instance that is dead.
func TestReapSparesOthers(t *testing.T) {
	elsewhere, otherBoot := here(), here()
	elsewhere.Space, otherBoot.Boot = "pid:[1]", "another"
	for name, tc := range map[string]struct {
		head  lease.Head
		alive bool
		shift uint64 // of the recorded start
		env   string
		kills bool
		keeps bool // the record
	}{
		"it is ours":             {head: here(), kills: true},
		"the number was reused":  {head: here(), shift: 1},
		"another boot":           {head: otherBoot},
		"another container":      {head: elsewhere, keeps: true},
		"its instance lives":     {head: here(), alive: true, keeps: true},
		"marked by a third":      {head: here(), shift: 1, env: MarkVar + "=i_third.1"},
		"marked much like ours":  {head: here(), shift: 1, env: MarkVar + "=i_gone2.1"},
		"mark of the dead alone": {head: here(), shift: 1, env: MarkVar + "=i_gone.77", kills: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pid := innocent(t, tc.env)
			path := writeRecord(t, dir, "i_gone", tc.head, lease.Child{Serial: 1, Pid: pid, Start: startTime(pid) + tc.shift})
			c := NewCustody(Options{Dir: dir, ID: "i_new", Alive: func(string) bool { return tc.alive }})
			ended, err := c.Reap()
			if err != nil || (ended == 1) != tc.kills || alive(pid) == tc.kills {
				t.Errorf("ended %d, %v; alive: %v", ended, err, alive(pid))
			}
			if _, err := os.Stat(path); (err == nil) != tc.keeps {
				t.Errorf("the record: %v", err)
			}
		})
	}
}

// Whoever looks for survivors may descend from what died; a child of the dead
// may have started an instance that lives, whose children are its own.
func TestReapSparesKin(t *testing.T) {
	dir := t.TempDir()
	parent := os.Getppid()
	writeRecord(t, dir, "i_gone", here(),
		lease.Child{Serial: 1, Pid: parent, Start: startTime(parent), Guard: os.Getpid(), GuardStart: startTime(os.Getpid())})
	pid, unmarked := innocent(t, MarkVar+"=i_third.1"), innocent(t, "NOTHING=1")
	c := NewCustody(Options{Dir: dir, ID: "i_new", Alive: func(id string) bool { return id == "i_third" }})
	if ended, err := c.Reap(); err != nil || ended > 0 || !alive(pid) || !alive(unmarked) || !alive(parent) {
		t.Errorf("%v, %d ended; children %v and %v, parent %v", err, ended, alive(pid), alive(unmarked), alive(parent))
	}
}

// What is no record, and what a record says of paths, does no harm.
func TestReapTrustsNoFile(t *testing.T) {
	dir, precious := t.TempDir(), filepath.Join(t.TempDir(), "grapnel-i_other")
	if err := os.Mkdir(precious, 0o700); err != nil {
		t.Fatal(err)
	}
	h := here()
	h.Temp, h.Groups = precious, precious
	writeRecord(t, dir, "i_gone", h, lease.Child{Serial: 1, Pid: 1, Start: startTime(1)})
	link := filepath.Join(t.TempDir(), "grapnel-i_link")
	if err := os.Symlink(precious, link); err != nil {
		t.Fatal(err)
	}
	h.Temp = link
	writeRecord(t, dir, "i_link", h, lease.Child{Serial: 1})
	if err := os.WriteFile(filepath.Join(dir, "i_text"+lease.Suffix), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := NewCustody(Options{Dir: dir, ID: "i_new", Alive: func(string) bool { return false }})
	if ended, err := c.Reap(); ended != 0 || err != nil {
		t.Errorf("ended %d, %v", ended, err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTemp(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	c := NewCustody(Options{Dir: t.TempDir(), ID: "i_temp", Alive: func(string) bool { return false }})
	dir, err := c.Temp()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Temp(); again != dir || err != nil {
		t.Errorf("%s, %v; want %s again", again, err, dir)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if dir, err := c.Temp(); err == nil {
		t.Errorf("a link somebody put there is used: %s", dir)
	}
}
