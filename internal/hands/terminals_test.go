//go:build unix

package hands

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// patience bounds what takes milliseconds.
const patience = 30 * time.Second

func create(t *testing.T, h *Hands, req v1.CreateTerminalRequest) v1.TerminalID {
	t.Helper()
	got, err := h.CreateTerminal(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	return got.TerminalID
}

// finish waits for a command and returns its output.
func finish(t *testing.T, h *Hands, id v1.TerminalID) *v1.TerminalOutputResponse {
	t.Helper()
	if _, err := h.WaitForTerminalExit(t.Context(), &v1.WaitForTerminalExitRequest{TerminalID: id}); err != nil {
		t.Fatal(err)
	}
	out, err := h.TerminalOutput(t.Context(), &v1.TerminalOutputRequest{TerminalID: id})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestT6CommandIsAProgram takes the command for a program and not for a line of a shell.
func TestT6CommandIsAProgram(t *testing.T) {
	h, _ := open(t, nil)
	out := finish(t, h, create(t, h, v1.CreateTerminalRequest{Command: "printf", Args: []string{"%s", "a b;$HOME"}}))
	if out.Output != "a b;$HOME" || out.ExitStatus == nil || *out.ExitStatus.ExitCode != 0 || out.Truncated {
		t.Errorf("%+v", out)
	}
	for _, command := range []string{"no such prog", "", "printf x"} {
		if got, err := h.CreateTerminal(t.Context(), &v1.CreateTerminalRequest{Command: command}); err == nil {
			t.Errorf("%q starts %v", command, got)
		}
	}
}

func TestTerminalSettings(t *testing.T) {
	h, cwd := open(t, nil)
	sub := filepath.Join(cwd, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	req := v1.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "pwd; echo $WORD >&2; exit 3"}, Cwd: &sub, Env: []v1.EnvVariable{{Name: "WORD", Value: "hello"}}}
	out := finish(t, h, create(t, h, req))
	if want := sub + "\nhello\n"; out.Output != want || *out.ExitStatus.ExitCode != 3 {
		t.Errorf("%q, %+v", out.Output, out.ExitStatus)
	}
	for name, req := range map[string]v1.CreateTerminalRequest{
		"outside":  {Command: "pwd", Cwd: ptr(filepath.Dir(cwd))},
		"relative": {Command: "pwd", Cwd: ptr("sub")},
		"a file":   {Command: "pwd", Cwd: ptr("/etc/passwd")},
		"no name":  {Command: "pwd", Env: []v1.EnvVariable{{Name: "A=B"}}},
	} {
		if _, err := h.CreateTerminal(t.Context(), &req); code(err) != acp.CodeInvalidParams {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func ptr(s string) *string { return &s }

func TestOutputLimit(t *testing.T) {
	h, _ := open(t, nil)
	limit := uint64(7)
	out := finish(t, h, create(t, h, v1.CreateTerminalRequest{Command: "printf", Args: []string{"0123456789你好x"}, OutputByteLimit: &limit}))
	if out.Output != "你好x" || !out.Truncated {
		t.Errorf("%q, truncated %v", out.Output, out.Truncated)
	}
	limit = 5
	out = finish(t, h, create(t, h, v1.CreateTerminalRequest{Command: "printf", Args: []string{"你好x"}, OutputByteLimit: &limit}))
	if out.Output != "好x" {
		t.Errorf("cut in a character: %q", out.Output)
	}
	out = finish(t, h, create(t, h, v1.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "yes | head -c 8000000"}}))
	if len(out.Output) != defaultOutput || !out.Truncated {
		t.Errorf("%d bytes, truncated %v", len(out.Output), out.Truncated)
	}
}

// alive reports whether a process runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// descendant starts a command that starts another one, and returns both ids.
func descendant(t *testing.T, h *Hands, cwd string) (v1.TerminalID, int) {
	t.Helper()
	id := create(t, h, v1.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "sleep 1000 & echo $! >pid.tmp; mv pid.tmp pid; wait"}})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		text, err := os.ReadFile(filepath.Join(cwd, "pid"))
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		pid := 0
		for _, c := range strings.TrimSpace(string(text)) {
			pid = pid*10 + int(c-'0')
		}
		_ = os.Remove(filepath.Join(cwd, "pid"))
		return id, pid
	}
	t.Fatal("the command has not started")
	return "", 0
}

func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); alive(pid); {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestKillAndRelease(t *testing.T) {
	h, cwd := open(t, nil)
	id, pid := descendant(t, h, cwd)
	if out, err := h.TerminalOutput(t.Context(), &v1.TerminalOutputRequest{TerminalID: id}); err != nil || out.ExitStatus != nil {
		t.Errorf("while it runs: %+v, %v", out, err)
	}
	if _, err := h.KillTerminal(t.Context(), &v1.KillTerminalRequest{TerminalID: id}); err != nil {
		t.Fatal(err)
	}
	if out := finish(t, h, id); out.ExitStatus.Signal == nil && out.ExitStatus.ExitCode == nil {
		t.Errorf("%+v", out.ExitStatus)
	}
	gone(t, pid)
	id, pid = descendant(t, h, cwd)
	if _, err := h.ReleaseTerminal(t.Context(), &v1.ReleaseTerminalRequest{TerminalID: id}); err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
	if _, err := h.TerminalOutput(t.Context(), &v1.TerminalOutputRequest{TerminalID: id}); code(err) != acp.CodeResourceNotFound {
		t.Errorf("a released terminal: %v", err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	h, cwd := open(t, nil)
	id, pid := descendant(t, h, cwd)
	waited := make(chan error, 1)
	go func() {
		_, err := h.WaitForTerminalExit(t.Context(), &v1.WaitForTerminalExitRequest{TerminalID: id})
		waited <- err
	}()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
	gone(t, pid)
	if _, err := h.CreateTerminal(t.Context(), &v1.CreateTerminalRequest{Command: "true"}); err == nil {
		t.Error("a terminal opens after the end")
	}
}

func TestTerminalsAreCounted(t *testing.T) {
	h, _ := open(t, nil)
	for range maxTerminals {
		create(t, h, v1.CreateTerminalRequest{Command: "true"})
	}
	if _, err := h.CreateTerminal(t.Context(), &v1.CreateTerminalRequest{Command: "true"}); err == nil || !strings.Contains(err.Error(), "release one") {
		t.Error(err)
	}
}
