package fieldtest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/cgroup"
	"github.com/grapnel-ai/grapnel/internal/proc/lease"
	"github.com/grapnel-ai/grapnel/internal/proc/procfs"
)

// hostileTree does what leaves processes behind elsewhere: it ignores signals,
// leaves its session, twice, and is orphaned. All of it holds the pipe.
const hostileTree = `exec 9>life
trap '' TERM HUP INT
setsid sh -c 'setsid sh -c "echo up >&9; exec sleep 1000" & echo up >&9; kill -STOP $$; exec sleep 1000' &
echo up >&9
wait
`

// lifeline is a pipe that every process of a tree holds: its end of file is the
// news that none is left, whatever its number in whatever namespace.
type lifeline struct {
	t *testing.T
	r *os.File
}

// startTree lets the agent run the hostile tree and waits until it is up.
func startTree(t *testing.T, w *World, a *Agent, s string) lifeline {
	t.Helper()
	life := filepath.Join(w.Cwd, "life")
	_ = os.Remove(life)
	if err := syscall.Mkfifo(life, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Cwd, "tree.sh"), []byte(hostileTree), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(life, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	ours, err := os.OpenFile(life, os.O_WRONLY, 0) // or it would be at its end at once
	if err != nil {
		t.Fatal(err)
	}
	a.BeginPrompt(s, "D:TOOL shell sh tree.sh")
	_ = r.SetReadDeadline(time.Now().Add(patience))
	lines := bufio.NewScanner(r)
	for n := range 3 {
		if !lines.Scan() {
			t.Fatalf("%d of 3 processes came up: %v\n%s", n, lines.Err(), a.Transcript())
		}
	}
	_ = ours.Close()
	return lifeline{t, r}
}

// alive reports whether a process of the tree is left.
func (l lifeline) alive() bool {
	_ = l.r.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := l.r.Read(make([]byte, 1))
	return err != io.EOF
}

// requireGone gives the tree a second to end.
func (l lifeline) requireGone() {
	l.t.Helper()
	_ = l.r.SetReadDeadline(time.Now().Add(time.Second))
	if _, err := io.Copy(io.Discard, l.r); err != nil {
		l.t.Errorf("processes of the tool call are alive after a second: %v", err)
	}
}

// guards are the guard processes of an agent's children.
func guards(a *Agent) (pids []int) {
	for _, p := range procfs.All() {
		name, err := os.ReadFile("/proc/" + strconv.Itoa(p.Pid) + "/cmdline")
		if p.Parent == a.Pid() && err == nil && strings.HasPrefix(string(name), "grapnel-shim") {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// crashWithGuards kills the agent and the guards of its children, so that none
// of them can do anything about it.
func crashWithGuards(t *testing.T, a *Agent) {
	t.Helper()
	pids := guards(a)
	if len(pids) == 0 {
		t.Fatal("no child of the agent has a guard")
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	a.Crash()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func custodyWorld(t *testing.T, sandbox string) *World {
	return NewWorld(t, "[autonomy]", `level = "full"`, `sandbox = "`+sandbox+`"`)
}

// leases are the records of children in the world's home.
func leases(w *World) []string {
	found, _ := filepath.Glob(filepath.Join(w.Home, "run", "*"+lease.Suffix))
	return found
}

func TestL4WholeTreeEnds(t *testing.T) {
	for name, end := range map[string]func(*Agent, string){
		"at a cancel":    func(a *Agent, s string) { a.Cancel(s) },
		"at a close":     func(a *Agent, s string) { a.Must("session/close", object{"sessionId": s}, nil) },
		"at end of file": func(a *Agent, _ string) { a.CloseInput() },
		"at SIGTERM":     func(a *Agent, _ string) { _ = syscall.Kill(a.Pid(), syscall.SIGTERM) },
		"at SIGKILL":     func(a *Agent, _ string) { a.Crash() },
	} {
		for _, sandbox := range []string{"none", "bubblewrap", "landlock"} {
			t.Run(name+"/sandbox "+sandbox, func(t *testing.T) {
				t.Parallel()
				w := custodyWorld(t, sandbox)
				a, s := w.Opened()
				life := startTree(t, w, a, s)
				end(a, s)
				if name == "at end of file" || name == "at SIGTERM" { // a turn that runs is given time first
					a.WaitExit()
				}
				life.requireGone()
			})
		}
	}
}

// A command whose guard is killed ends, and the turn goes on.
func TestL4GuardKilled(t *testing.T) {
	w := custodyWorld(t, "none")
	a, s := w.Opened()
	life := startTree(t, w, a, s)
	for _, pid := range guards(a) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	life.requireGone()
	u := a.AwaitUpdate(s, 0, "the call's end", func(u Update) bool { return u.Status == "failed" })
	if text := string(u.Raw["content"]); !strings.Contains(text, "guard process was killed") {
		t.Errorf("the call says %s", text)
	}
}

// When both die at once, the next start ends what is left, and only that.
func TestL4NextStartReaps(t *testing.T) {
	for _, sandbox := range []string{"none", "bubblewrap", "landlock"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) {
			w := custodyWorld(t, sandbox)
			a, s := w.Opened()
			life := startTree(t, w, a, s)
			other := *w
			other.Cwd = realDir(t, t.TempDir())
			b, s2 := other.Opened()
			others := startTree(t, &other, b, s2)
			if n := len(leases(w)); n != 2 {
				t.Errorf("%d records, want 2", n)
			}
			crashWithGuards(t, a)
			if sandbox == "none" && !life.alive() {
				t.Fatal("nothing survived: this tests nothing")
			}
			w.Opened()
			life.requireGone()
			if !others.alive() {
				t.Error("a command of another instance was ended")
			}
			b.Kill()
			others.requireGone()
		})
	}
}

// TestL1NothingIsLeft: a clean exit leaves no record and no control group.
func TestL1NothingIsLeft(t *testing.T) {
	w := custodyWorld(t, "auto")
	a, s := w.Opened()
	a.Prompt(s, "D:TOOL shell echo hello")
	found := leases(w)
	if len(found) != 1 {
		t.Fatalf("records %v, want one", found)
	}
	head, _, err := lease.Read(found[0])
	if err != nil {
		t.Fatal(err)
	}
	a.Quit()
	if found := leases(w); len(found) > 0 {
		t.Errorf("left: %v", found)
	}
	if _, err := os.Stat(head.Temp); err == nil {
		t.Errorf("%s is left", head.Temp)
	}
	id := strings.TrimSuffix(filepath.Base(found[0]), lease.Suffix)
	if n, err := cgroup.Find(head.Groups, id); err == nil && len(n.Left()) > 0 {
		t.Errorf("left: %v", n.Left())
	}
}

// L5: an MCP server that saves its state when its input ends has the time to.
func TestL5ServersMaySave(t *testing.T) {
	for name, end := range map[string]func(*Agent, string){
		"at a close":     func(a *Agent, s string) { a.Must("session/close", object{"sessionId": s}, nil) },
		"at end of file": func(a *Agent, _ string) { a.Quit() },
	} {
		t.Run(name, func(t *testing.T) {
			w := NewWorld(t)
			a := w.Start()
			a.Init()
			saves := mcpServer("notes", "ok")
			saves["command"] = "sh"
			saves["args"] = []string{"-c", `"$0"; sleep 0.3; echo saved > "$1"`, os.Args[0], filepath.Join(w.Cwd, "saved")}
			s := a.newWith(saves)
			a.Prompt(s, "D:SAY the servers are there")
			end(a, s)
			waitFor(t, "the server's state", func() bool { return fileSize(filepath.Join(w.Cwd, "saved")) > 0 })
		})
	}
}
