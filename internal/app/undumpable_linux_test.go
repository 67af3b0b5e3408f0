package app

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// undumpableVar makes the test binary be a process that cannot be read, and try
// whether its children can start and can read it.
const undumpableVar = "APP_TEST_UNDUMPABLE"

func init() {
	if os.Getenv(undumpableVar) != "" {
		fmt.Println(tryUndumpable())
		os.Exit(0)
	}
}

func tryUndumpable() string {
	undumpable()
	if v, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || v != 0 {
		return fmt.Sprintf("dumpable is %d, %v", v, err)
	}
	var out bytes.Buffer
	p, err := proc.Start(context.Background(), proc.Spec{
		Argv:   []string{"sh", "-c", `cat "/proc/$1/environ" "/proc/$1/maps" && ls "/proc/$1/fd" || echo refused`, "sh", fmt.Sprint(os.Getpid())},
		Stdout: &out,
	})
	if err != nil {
		return err.Error()
	}
	if _, err := p.Wait(); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out.String())
}

// A process of the same user cannot read ours, and ours can still start others.
func TestUndumpable(t *testing.T) {
	program, as := otherUser(t)
	cmd := exec.Command(program)
	cmd.Env = []string{undumpableVar + "=1", "PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = as
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "refused" {
		t.Errorf("%v: %s", err, out)
	}
}

// otherUser returns this program where a user without rights can start it, for
// root reads everybody.
func otherUser(t *testing.T) (string, *syscall.SysProcAttr) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return exe, nil
	}
	dir, err := os.MkdirTemp("/var/tmp", "grapnel-app-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "app.test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return program, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
