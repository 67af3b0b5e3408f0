//go:build linux

package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// asJailed is set in the environment of a test binary that is to run commands
// inside bubblewrap, one after the other.
const asJailed = "GRAPNEL_SOAK_JAILED"

// commandTime bounds a command; some wait for ever, which is no harm.
const commandTime = 500 * time.Millisecond

// jail runs commands where they can do no harm: in bubblewrap, with everything
// but one directory read-only, no network, and as nobody.
type jail struct {
	t   *testing.T
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
}

// order is one command for the jail.
type order struct {
	Shell   string // path of the shell
	Dir     string
	Command string
}

// deed is what came of an order.
type deed struct {
	Output  []byte // bounded
	Timeout bool   // it was ended by us
	Err     string
}

// newJail starts a jail in which dir may be written, and dir/tmp is /tmp.
func newJail(t *testing.T, dir string) *jail {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bwrap", "--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL", "--die-with-parent",
		"--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", filepath.Join(dir, "tmp"), "/tmp",
		"--bind", dir, dir, "--ro-bind", self, filepath.Join(dir, "jail"),
		"--clearenv", "--setenv", "PATH", os.Getenv("PATH"), "--setenv", "HOME", filepath.Join(dir, "home"), "--setenv", "LANG", "C.UTF-8",
		"--setenv", "TMPDIR", "/tmp", "--setenv", "GRAPNEL_SHELL", "acp", "--setenv", "GORACE", "atexit_sleep_ms=10",
		"--setenv", asJailed, dir, filepath.Join(dir, "jail"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	j := &jail{t: t, cmd: cmd, in: json.NewEncoder(stdin), out: json.NewDecoder(bufio.NewReader(stdout))}
	var ready deed
	if err := j.out.Decode(&ready); err != nil || ready.Err != "" {
		_ = stdin.Close()
		_ = cmd.Wait()
		t.Fatalf("the jail does not hold: %v %s %s", err, ready.Err, stderr.String())
	}
	return j
}

// run has a command run to its end.
func (j *jail) run(o order) deed {
	j.t.Helper()
	var d deed
	if err := errors.Join(j.in.Encode(o), j.out.Decode(&d)); err != nil {
		j.t.Fatalf("the jail ended at %q: %v", o.Command, err)
	}
	if d.Err != "" {
		j.t.Fatalf("%q could not be run: %s", o.Command, d.Err)
	}
	return d
}

// jailed is the inside of the jail. It refuses to work anywhere else.
func jailed(dir string) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if err := confined(dir); err != nil {
		return out.Encode(deed{Err: err.Error()})
	}
	_ = os.Unsetenv(asJailed)
	if err := out.Encode(deed{}); err != nil {
		return err
	}
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := out.Encode(do(o)); err != nil {
			return err
		}
	}
}

// confined makes sure of the walls.
func confined(dir string) error {
	if os.Getuid() == 0 {
		return errors.New("the user is root")
	}
	for _, name := range []string{"/grapnel-soak", "/usr/grapnel-soak", filepath.Join(filepath.Dir(dir), "grapnel-soak")} {
		if f, err := os.Create(name); err == nil {
			_ = f.Close()
			return errors.Join(errors.New(name+" can be written"), os.Remove(name))
		}
	}
	others, err := net.Interfaces()
	if err != nil || len(others) > 1 {
		return fmt.Errorf("there is a network: %v %w", others, err)
	}
	return nil
}

// do runs one command and ends all it has started.
func do(o order) deed {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	var d deed
	output := &bounded{}
	cmd := exec.CommandContext(ctx, o.Shell, "-c", o.Command)
	cmd.Args[0] = "sh"
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Dir, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 50 * time.Millisecond
	if err := cmd.Start(); err != nil {
		d.Err = err.Error()
		return d
	}
	_ = cmd.Wait()                        // how it ends says nothing
	_ = syscall.Kill(-1, syscall.SIGKILL) // in the jail's own world of processes
	d.Output, d.Timeout = output.b, ctx.Err() != nil
	return d
}

// bounded keeps the beginning of what is written.
type bounded struct{ b []byte }

func (w *bounded) Write(p []byte) (int, error) {
	w.b = append(w.b, p[:min(len(p), 64<<10-len(w.b))]...)
	return len(p), nil
}
