package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// hands are a client's own file system and terminals for one session. The
// session's id is set once it is known, before its first prompt.
type hands struct {
	conn *conn
	id   atomic.Pointer[string]
}

func (h *hands) bind(id string) { h.id.Store(&id) }

// offered are the parts the client declared, where its files are the session's:
// on this machine, where it says so, and where all hands are to be its own. Half a
// file system would show an agent files it cannot change, so both directions are
// needed.
func (h *hands) offered(c caps) (session.Hands, error) {
	if c.handsOnly && !(c.readFile && c.writeFile && c.terminal) {
		return session.Hands{}, session.Invalidf(`tools "client" needs a client that declares fs.readTextFile, fs.writeTextFile and terminal`)
	}
	s := session.Hands{Only: c.handsOnly}
	if !h.conn.opts.Local && !c.clientFs && !c.handsOnly {
		return s, nil
	}
	if c.readFile && c.writeFile {
		s.FS = h
	}
	if c.terminal {
		s.Terminals = h
	}
	return s, nil
}

// call asks the client; into may be nil.
func (h *hands) call(ctx context.Context, method string, p any, into any) error {
	call, err := h.conn.peer.Go(ctx, acp.ID{}, method, p)
	if errors.Is(err, acp.ErrClosed) {
		err = session.ErrHandsGone
	}
	var result raw
	if err == nil {
		result, err = call.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if into == nil || isNull(result) {
		return nil
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("%s: the client's answer could not be read: %w", method, err)
	}
	return nil
}

// bounded is call for requests that a client answers from memory or disk.
func (h *hands) bounded(ctx context.Context, method string, p any, into any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.conn.server.opts.HandsTimeout,
		fmt.Errorf("%s: the client did not answer in time", method))
	defer cancel()
	err := h.call(ctx, method, p, into)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

type fileParams struct {
	SessionID string  `json:"sessionId"`
	Path      string  `json:"path"`
	Line      int     `json:"line,omitzero"`
	Limit     int     `json:"limit,omitzero"`
	Content   *string `json:"content,omitzero"`
}

// ReadTextFile implements session.FS by fs/read_text_file.
func (h *hands) ReadTextFile(ctx context.Context, path string, line, limit int) (string, error) {
	var r struct {
		Content *string `json:"content"`
	}
	err := h.bounded(ctx, "fs/read_text_file", fileParams{SessionID: *h.id.Load(), Path: path, Line: line, Limit: limit}, &r)
	if isMissing(err) {
		return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err == nil && r.Content == nil {
		err = fmt.Errorf("fs/read_text_file: the client's answer for %s has no content", path)
	}
	if err != nil {
		return "", err
	}
	return *r.Content, nil
}

// WriteTextFile implements session.FS by fs/write_text_file.
func (h *hands) WriteTextFile(ctx context.Context, path, content string) error {
	return h.bounded(ctx, "fs/write_text_file", fileParams{SessionID: *h.id.Load(), Path: path, Content: &content}, nil)
}

// isMissing recognises how clients say that a file is not there: by code, or
// in the words of their operating system.
func isMissing(err error) bool {
	var rpc *acp.Error
	if !errors.As(err, &rpc) {
		return false
	}
	text := strings.ToLower(rpc.Message + string(rpc.Data))
	return rpc.Code == acp.CodeResourceNotFound || strings.Contains(text, "enoent") || strings.Contains(text, "no such file")
}

type envVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type terminalParams struct {
	SessionID  string        `json:"sessionId"`
	TerminalID string        `json:"terminalId,omitzero"`
	Command    string        `json:"command,omitzero"`
	Args       []string      `json:"args,omitzero"`
	Env        []envVariable `json:"env,omitzero"`
	Cwd        string        `json:"cwd,omitzero"`
	Limit      int64         `json:"outputByteLimit,omitzero"`
}

// CreateTerminal implements session.Terminals by terminal/create.
func (h *hands) CreateTerminal(ctx context.Context, argv []string, cwd string, env map[string]string, limit int64) (string, error) {
	p := terminalParams{SessionID: *h.id.Load(), Command: argv[0], Args: argv[1:], Cwd: cwd, Limit: limit}
	for name, value := range env {
		p.Env = append(p.Env, envVariable{name, value})
	}
	var r struct {
		TerminalID string `json:"terminalId"`
	}
	if err := h.bounded(ctx, "terminal/create", p, &r); err != nil {
		return "", err
	}
	if r.TerminalID == "" {
		return "", errors.New("terminal/create: the client named no terminal")
	}
	return r.TerminalID, nil
}

type exitStatus struct {
	ExitCode *int    `json:"exitCode"`
	Signal   *string `json:"signal"`
}

func (e exitStatus) exit() session.TerminalExit {
	x := session.TerminalExit{Code: e.ExitCode}
	if e.Signal != nil {
		x.Signal = *e.Signal
	}
	return x
}

// TerminalOutput implements session.Terminals by terminal/output.
func (h *hands) TerminalOutput(ctx context.Context, id string) (string, bool, *session.TerminalExit, error) {
	var r struct {
		Output     string      `json:"output"`
		Truncated  bool        `json:"truncated"`
		ExitStatus *exitStatus `json:"exitStatus"`
	}
	if err := h.bounded(ctx, "terminal/output", h.terminal(id), &r); err != nil {
		return "", false, nil, err
	}
	if r.ExitStatus == nil {
		return r.Output, r.Truncated, nil, nil
	}
	exit := r.ExitStatus.exit()
	return r.Output, r.Truncated, &exit, nil
}

// WaitTerminal implements session.Terminals by terminal/wait_for_exit; only ctx
// bounds it.
func (h *hands) WaitTerminal(ctx context.Context, id string) (session.TerminalExit, error) {
	var r exitStatus
	if err := h.call(ctx, "terminal/wait_for_exit", h.terminal(id), &r); err != nil {
		return session.TerminalExit{}, err
	}
	return r.exit(), nil
}

// KillTerminal implements session.Terminals by terminal/kill.
func (h *hands) KillTerminal(ctx context.Context, id string) error {
	return h.bounded(ctx, "terminal/kill", h.terminal(id), nil)
}

// ReleaseTerminal implements session.Terminals by terminal/release.
func (h *hands) ReleaseTerminal(ctx context.Context, id string) error {
	return h.bounded(ctx, "terminal/release", h.terminal(id), nil)
}

func (h *hands) terminal(id string) terminalParams {
	return terminalParams{SessionID: *h.id.Load(), TerminalID: id}
}
