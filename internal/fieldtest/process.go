package fieldtest

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// process is a running grapnel.
type process struct {
	tb     testing.TB
	cmd    *exec.Cmd
	stderr *syncBuffer
	exited chan struct{}
}

// command prepares grapnel with arguments; Wrap goes before it.
func (w *World) command(args ...string) *process {
	argv := append(append([]string{}, w.Wrap...), os.Args[0], "--config-dir", w.Home)
	argv = append(argv, args...)
	p := &process{tb: w.T, cmd: exec.Command(argv[0], argv[1:]...), stderr: &syncBuffer{}, exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), AsMain+"=1", "NO_PROXY=127.0.0.1")
	p.cmd.Env = append(p.cmd.Env, w.Env...)
	p.cmd.Stderr = p.stderr
	return p
}

// start runs it; its exit is waited for once drained is closed.
func (p *process) start(drained <-chan struct{}) {
	p.tb.Helper()
	if err := p.cmd.Start(); err != nil {
		p.tb.Fatal(err)
	}
	go func() {
		<-drained
		_ = p.cmd.Wait()
		close(p.exited)
	}()
}

// Stderr is what the process logged so far.
func (p *process) Stderr() string { return p.stderr.String() }

// Pid is the process id.
func (p *process) Pid() int { return p.cmd.Process.Pid }

// Signal sends the process a signal.
func (p *process) Signal(s os.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Fatal(err)
	}
}

// Kill ends the process at once and waits for it; a second call does nothing.
func (p *process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Exited reports whether the process has ended, and its exit code.
func (p *process) Exited() (code int, over bool) {
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode(), true
	default:
		return 0, false
	}
}

// WaitExit waits for the process to end and returns its code.
func (p *process) WaitExit() int {
	p.tb.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.tb.Fatalf("the process did not exit\n%s", p.stderr)
	}
	return p.cmd.ProcessState.ExitCode()
}

// syncBuffer is a buffer that one goroutine writes while others read.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
