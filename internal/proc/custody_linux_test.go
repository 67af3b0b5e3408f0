package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/cgroup"
)

// hostile is a tree of processes that do not want to end, and how many of them
// say "up". All of them hold standard error: its end of file is the news that
// none is left, wherever it went.
type hostile struct {
	script string
	ups    int
}

func hostiles(t *testing.T) map[string]hostile {
	t.Helper()
	all := map[string]hostile{
		"leaves its session twice": {`setsid sh -c 'setsid sh -c "echo up; exec sleep 1000" & echo up'; echo up; exec sleep 1000`, 3},
		"ignores signals":          {`trap '' TERM HUP INT; sh -c 'trap "" TERM; echo up; while :; do sleep 1000; done' & echo up; wait`, 2},
		"is stopped":               {`sh -c 'echo up; kill -STOP $$; exec sleep 1000' & sh -c 'echo up; kill -STOP $$' & wait`, 2},
		"forks a lot":              {`f() { if [ $1 = 0 ]; then echo up; exec sleep 1000; fi; f $(($1-1)) & f $(($1-1)) & wait; }; f 4`, 16},
		"hides its environment":    {`env -i /bin/sh -c 'echo up; exec /bin/sleep 1000' & echo up; wait`, 2},
		"holds pipes":              {`sleep 1000 | sh -c 'echo up >&2; exec sleep 1000' 2>&1 | (sleep 1000 & cat); wait`, 1},
	}
	// A sandbox in between has process numbers of its own. Nothing in it is told
	// to die with its parent here.
	const sandbox = `bwrap --dev-bind / / --unshare-pid --proc /proc `
	if err := exec.Command("sh", "-c", sandbox+"true").Run(); err == nil {
		all["is in a sandbox"] = hostile{
			sandbox + `sh -c 'trap "" TERM; setsid sh -c "echo up; exec sleep 1000" & echo up; wait' & wait`, 2,
		}
	} else if os.Getenv("CI") != "" {
		t.Errorf("bubblewrap does not work here: %v", err)
	}
	return all
}

// watched is a running hostile tree.
type watched struct {
	*Proc
	stderr *os.File
}

// startHostile starts the tree and waits until all of it is up.
func startHostile(t *testing.T, c *Custody, ctx context.Context, h hostile) watched {
	t.Helper()
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	p, err := c.Start(ctx, Spec{Argv: []string{"sh", "-c", h.script}, Stdout: outW, Stderr: errW})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = outW.Close(), errW.Close()
	waitUp(t, outR, h.ups)
	return watched{p, errR}
}

func waitUp(t *testing.T, out *os.File, n int) {
	t.Helper()
	_ = out.SetReadDeadline(time.Now().Add(20 * time.Second))
	for lines := bufio.NewScanner(out); n > 0; n-- {
		if !lines.Scan() {
			t.Fatalf("%d processes are missing: %v", n, lines.Err())
		}
	}
}

// requireNone waits for the end of file that says that nobody is left.
func requireNone(t *testing.T, stderr *os.File) {
	t.Helper()
	_ = stderr.SetReadDeadline(time.Now().Add(time.Second))
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Errorf("processes are left after a second: %v", err)
	}
}

// custodies are the ways children are held here.
func custodies(t *testing.T) map[string]*Custody {
	t.Helper()
	dead := func(string) bool { return false }
	alone := NewCustody(Options{Dir: t.TempDir(), ID: "i_alone", Alive: dead})
	alone.openNest = noNest
	all := map[string]*Custody{"guard alone": alone}
	if canGroup() {
		all["with group"] = NewCustody(Options{Dir: t.TempDir(), ID: fmt.Sprintf("i_test%d", os.Getpid()), Alive: dead})
	} else {
		t.Log("no control groups here")
	}
	t.Cleanup(func() {
		for name, c := range all {
			if err := c.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			requireEmpty(t, c)
		}
	})
	return all
}

// requireEmpty looks whether a custody that was closed left anything.
func requireEmpty(t *testing.T, c *Custody) {
	t.Helper()
	if left, err := os.ReadDir(c.opts.Dir); err != nil || len(left) > 0 {
		t.Errorf("records are left: %v, %v", left, err)
	}
	if c.nest != nil && len(c.nest.Left()) > 0 {
		t.Errorf("control groups are left: %v", c.nest.Left())
	}
}

func noNest(string) (*cgroup.Nest, error) { return nil, cgroup.ErrNone }

// canGroup reports whether this system gives us control groups.
func canGroup() bool {
	n, err := cgroup.Open("i_probe")
	if err != nil {
		return false
	}
	g, err := n.Make(uint64(os.Getpid()))
	if err != nil {
		return false
	}
	return g.Remove() == nil
}

// TestHostileTrees ends every kind of tree in every way, again and again: no
// process is left a second later, and no record and no group.
func TestHostileTrees(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	ends := map[string]func(watched, context.CancelFunc){
		"cancelled":         func(_ watched, cancel context.CancelFunc) { cancel() },
		"killed":            func(w watched, _ context.CancelFunc) { w.Kill() },
		"its guard killed":  func(w watched, _ context.CancelFunc) { _ = w.tree.guard.Kill() },
		"its guard stopped": func(w watched, _ context.CancelFunc) { _ = w.tree.guard.Signal(syscall.SIGSTOP); w.Kill() },
	}
	cases := 0
	run := func(t *testing.T, c *Custody, h hostile, end func(watched, context.CancelFunc)) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := startHostile(t, c, ctx, h)
		end(w, cancel)
		requireNone(t, w.stderr)
		within(t, 2*time.Second, w.Done())
		if _, err := w.Wait(); err != nil && !errors.Is(err, ErrGuardKilled) {
			t.Error(err)
		}
	}
	held, trees := custodies(t), hostiles(t)
	for cases < rounds {
		for how, c := range held {
			for tree, h := range trees {
				for what, end := range ends {
					if cases++; cases > rounds {
						return
					}
					t.Run(how+"/"+tree+"/"+what, func(t *testing.T) { run(t, c, h, end) })
				}
			}
		}
	}
}

// crasher makes the test binary an instance that starts the script in its
// environment, if there is one, and says its child's guard's pid.
func crasher() {
	script := os.Getenv(crashScriptVar)
	if script == "" {
		return
	}
	c := NewCustody(Options{Dir: os.Getenv(crashDirVar), ID: os.Getenv(crashIDVar), Alive: func(string) bool { return true }})
	if os.Getenv(crashAloneVar) != "" {
		c.openNest = noNest
	}
	p, err := c.Start(context.Background(), Spec{Argv: []string{"sh", "-c", script}, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		os.Exit(1)
	}
	if dir, err := c.Temp(); err != nil || os.WriteFile(dir+"/f", nil, 0o600) != nil {
		os.Exit(1)
	}
	fmt.Fprintf(os.NewFile(3, "pids"), "%d\n", p.tree.guard.Pid)
	select {}
}

const (
	crashScriptVar = "PROC_TEST_CRASH"
	crashDirVar    = "PROC_TEST_DIR"
	crashIDVar     = "PROC_TEST_ID"
	crashAloneVar  = "PROC_TEST_ALONE"
)

// crash is a running crasher.
type crash struct {
	cmd    *exec.Cmd
	guard  int
	stderr *os.File
}

func startCrasher(t *testing.T, dir, id string, alone bool, h hostile) crash {
	t.Helper()
	outR, outW := pipe(t)
	errR, errW := pipe(t)
	pidR, pidW := pipe(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashScriptVar+"="+h.script, crashDirVar+"="+dir, crashIDVar+"="+id)
	if alone {
		cmd.Env = append(cmd.Env, crashAloneVar+"=1")
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = outW, errW, []*os.File{pidW}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	_, _, _ = outW.Close(), errW.Close(), pidW.Close()
	waitUp(t, outR, h.ups)
	line, err := bufio.NewReader(pidR).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	guard, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return crash{cmd, guard, errR}
}

// TestOurDeath kills us alone: the guard does the rest, nobody has to come back.
func TestOurDeath(t *testing.T) {
	for tree, h := range hostiles(t) {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/alone=%v", tree, alone), func(t *testing.T) {
				dir := t.TempDir()
				x := startCrasher(t, dir, "i_death", alone, h)
				_, _ = x.cmd.Process.Kill(), x.cmd.Wait()
				requireNone(t, x.stderr)
				requireReaped(t, dir, "i_death")
			})
		}
	}
}

// TestReap kills us and the guard: what survives is found at the next start.
func TestReap(t *testing.T) {
	for tree, h := range hostiles(t) {
		for _, alone := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/alone=%v", tree, alone), func(t *testing.T) {
				dir := t.TempDir()
				x := startCrasher(t, dir, "i_crash", alone, h)
				// The guard first: it would end the tree if it saw us die.
				_ = syscall.Kill(x.guard, syscall.SIGSTOP)
				_, _ = x.cmd.Process.Kill(), x.cmd.Wait()
				_ = syscall.Kill(x.guard, syscall.SIGKILL)
				if ended := requireReaped(t, dir, "i_crash"); ended == 0 && alone {
					t.Error("nothing survived: this tests nothing")
				}
				requireNone(t, x.stderr)
			})
		}
	}
}

// requireReaped starts anew and looks what is left of an instance.
func requireReaped(t *testing.T, dir, id string) int {
	t.Helper()
	c := NewCustody(Options{Dir: dir, ID: "i_next", Alive: func(string) bool { return false }})
	ended, err := c.Reap()
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("records are left: %v, %v", left, err)
	}
	old := NewCustody(Options{ID: id})
	if _, err := os.Stat(old.tempPath()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("temporary files are left: %v", err)
	}
	if n, err := cgroup.Open(id); err == nil && len(n.Left()) > 0 {
		t.Errorf("control groups are left: %v", n.Left())
	}
	return ended
}
