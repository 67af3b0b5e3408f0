package hands

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/proc"
)

const (
	// defaultOutput is how much output is kept where the agent does not say, and
	// maxOutput what it can ask for, in bytes.
	defaultOutput = 1 << 20
	maxOutput     = 16 << 20
)

// terminal is one command and what is left of its output.
type terminal struct {
	proc *proc.Proc
	out  *tail
}

// CreateTerminal answers terminal/create. The command is a program, not a line
// for a shell.
func (h *Hands) CreateTerminal(_ context.Context, req *v1.CreateTerminalRequest) (*v1.CreateTerminalResponse, error) {
	if req.Command == "" {
		return nil, acp.Errorf(acp.CodeInvalidParams, "command is empty")
	}
	dir, err := h.directory(req.Cwd)
	if err != nil {
		return nil, err
	}
	env := slices.Clone(h.environ)
	for _, v := range req.Env {
		if v.Name == "" || strings.ContainsAny(v.Name, "=\x00") || strings.Contains(v.Value, "\x00") {
			return nil, acp.Errorf(acp.CodeInvalidParams, "%q is no name of a variable", v.Name)
		}
		env = append(env, v.Name+"="+v.Value)
	}
	out := &tail{limit: defaultOutput}
	if req.OutputByteLimit != nil {
		out.limit = int(min(*req.OutputByteLimit, maxOutput))
	}
	id, err := h.start(proc.Spec{Argv: append([]string{req.Command}, req.Args...), Dir: dir, Env: env, Stdout: out, Stderr: out}, out)
	if err != nil {
		return nil, err
	}
	return &v1.CreateTerminalResponse{TerminalID: v1.TerminalID(id)}, nil
}

// directory is where a command runs: the session's directory or one in it.
func (h *Hands) directory(cwd *string) (string, error) {
	root := h.root.Roots()[0].Path
	if cwd == nil || *cwd == "" {
		return root, nil
	}
	if !filepath.IsAbs(*cwd) {
		return "", acp.Errorf(acp.CodeInvalidParams, "the working directory %q is not absolute", *cwd)
	}
	t, err := h.root.Resolve(*cwd)
	if err != nil {
		return "", problem(err)
	}
	defer func() { _ = t.Close() }()
	if !t.IsDir() {
		return "", acp.Errorf(acp.CodeInvalidParams, "the working directory %q is not a directory", *cwd)
	}
	return t.Abs, nil
}

func (h *Hands) start(spec proc.Spec, out *tail) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return "", fsroot.ErrGone
	case len(h.terminals) >= maxTerminals:
		return "", fmt.Errorf("%d terminals are open already; release one", maxTerminals)
	}
	p, err := proc.Start(h.ctx, spec)
	if err != nil {
		return "", err
	}
	h.serial++
	id := fmt.Sprintf("terminal-%d", h.serial)
	h.terminals[id] = &terminal{proc: p, out: out}
	h.running.Go(func() { <-p.Done() })
	return id, nil
}

func (h *Hands) terminal(id v1.TerminalID) (*terminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.terminals[string(id)]; t != nil {
		return t, nil
	}
	return nil, acp.Errorf(acp.CodeResourceNotFound, "there is no terminal %q", id)
}

// Output returns what a terminal shows, and whether there is such a terminal.
func (h *Hands) Output(id string) (text string, ok bool) {
	t, err := h.terminal(v1.TerminalID(id))
	if err != nil {
		return "", false
	}
	text, _ = t.out.text()
	return text, true
}

// TerminalOutput answers terminal/output.
func (h *Hands) TerminalOutput(_ context.Context, req *v1.TerminalOutputRequest) (*v1.TerminalOutputResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	answer := &v1.TerminalOutputResponse{}
	select {
	case <-t.proc.Done():
		code, signal := t.exit()
		answer.ExitStatus = &v1.TerminalExitStatus{ExitCode: code, Signal: signal}
	default:
	}
	answer.Output, answer.Truncated = t.out.text()
	return answer, nil
}

// exit says how a command ended, which it has.
func (t *terminal) exit() (code *uint32, signal *string) {
	exit, err := t.proc.Wait()
	switch {
	case err != nil:
		reason := err.Error()
		return nil, &reason
	case exit.Signal != "":
		return nil, &exit.Signal
	}
	n := uint32(exit.Code)
	return &n, nil
}

// WaitForTerminalExit answers terminal/wait_for_exit.
func (h *Hands) WaitForTerminalExit(ctx context.Context, req *v1.WaitForTerminalExitRequest) (*v1.WaitForTerminalExitResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.proc.Done():
		code, signal := t.exit()
		return &v1.WaitForTerminalExitResponse{ExitCode: code, Signal: signal}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// KillTerminal answers terminal/kill: the command ends, its output stays.
func (h *Hands) KillTerminal(_ context.Context, req *v1.KillTerminalRequest) (*v1.KillTerminalResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	t.proc.Kill()
	return &v1.KillTerminalResponse{}, nil
}

// ReleaseTerminal answers terminal/release: the command ends and its id with it.
func (h *Hands) ReleaseTerminal(_ context.Context, req *v1.ReleaseTerminalRequest) (*v1.ReleaseTerminalResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	t.proc.Kill()
	h.mu.Lock()
	delete(h.terminals, string(req.TerminalID))
	h.mu.Unlock()
	return &v1.ReleaseTerminalResponse{}, nil
}

// tail keeps the end of a command's output.
type tail struct {
	limit int

	mu   sync.Mutex
	data []byte
	cut  bool
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if len(t.data) > 2*t.limit+4096 { // not at every byte
		t.trim()
	}
	return len(p), nil
}

func (t *tail) trim() {
	if over := len(t.data) - t.limit; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
		t.cut = true
	}
}

// text is the end of the output that fits, from the beginning of a character.
func (t *tail) text() (text string, truncated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trim()
	data := t.data
	for t.cut && len(data) > 0 && !utf8.RuneStart(data[0]) {
		data = data[1:]
	}
	return strings.ToValidUTF8(string(data), "\ufffd"), t.cut
}
