package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/config"
)

// exitBound is how long the agent may take to end once its input is closed.
const exitBound = 10 * time.Second

// editor is a minimal ACP client that shows what it is sent.
type editor struct {
	show  *show
	cmd   *exec.Cmd
	conn  *acp.Conn
	agent v1.AgentConn
	input io.Closer
	logs  bytes.Buffer
	ended chan error

	allow    bool         // answer to permission requests of the turn
	cancelAt v1.SessionID // cancel this session's turn once it works
	quiet    bool

	mu      sync.Mutex
	talking bool // the last thing printed was part of a message
	calls   map[v1.ToolCallID]string
}

// start runs the agent and shakes hands.
func start(ctx context.Context, s *show) (*editor, error) {
	e := &editor{show: s, calls: make(map[v1.ToolCallID]string), ended: make(chan error, 1)}
	e.cmd = exec.Command(s.self, "--config-dir", s.home, "acp")
	e.cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return config.IsOverride(name) // meant for the user's own grapnel
	})
	e.cmd.Stderr = &e.logs
	in, err := e.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.self, err)
	}
	e.input = in
	client := &v1.Client{SessionUpdate: e.update, RequestPermission: e.permission}
	e.conn = acp.NewConn(acp.NewStdio(out, in, 0), client.Handler(), nil)
	e.agent = v1.AgentConn{Conn: e.conn}
	go func() {
		err := e.conn.Run(ctx)
		e.ended <- errors.Join(err, e.cmd.Wait())
	}()
	begun := time.Now()
	r, err := e.agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1})
	if err != nil {
		return nil, fmt.Errorf("initialize: %w\n%s", err, e.logs.String())
	}
	s.line("  %s %s answered in %d ms, protocol version %d", r.AgentInfo.Name, r.AgentInfo.Version,
		time.Since(begun).Milliseconds(), r.ProtocolVersion)
	return e, nil
}

func (e *editor) open(ctx context.Context) (v1.SessionID, error) {
	r, err := e.agent.NewSession(ctx, &v1.NewSessionRequest{Cwd: e.show.repo})
	if err != nil {
		return "", fmt.Errorf("open a session: %w", err)
	}
	e.show.line("  session %s in %s", r.SessionID, e.show.repo)
	return r.SessionID, nil
}

func (e *editor) load(ctx context.Context, id v1.SessionID) error {
	_, err := e.agent.LoadSession(ctx, &v1.LoadSessionRequest{SessionID: id, Cwd: e.show.repo})
	if err != nil {
		return fmt.Errorf("load the session: %w", err)
	}
	return nil
}

// prompt runs one turn and checks how it ended.
func (e *editor) prompt(ctx context.Context, id v1.SessionID, text string, want v1.StopReason) error {
	e.show.line("  you: %s", text)
	r, err := e.agent.Prompt(ctx, &v1.PromptRequest{
		SessionID: id, Prompt: []v1.ContentBlock{{Text: &v1.TextContent{Text: text}}},
	})
	e.breakLine()
	if err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	if r.StopReason != want {
		return fmt.Errorf("the turn ended with %s, not %s", r.StopReason, want)
	}
	e.show.line("  turn over: %s", r.StopReason)
	return nil
}

// update shows one session/update.
func (e *editor) update(ctx context.Context, n *v1.SessionNotification) {
	switch u := n.Update; {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		text := u.AgentMessageChunk.Content.Text.Text
		e.say(text)
		e.stopIfWanted(ctx, text)
	case u.ToolCall != nil:
		e.note(u.ToolCall.ToolCallID, u.ToolCall.Title)
	case u.ToolCallUpdate != nil:
		e.progress(u.ToolCallUpdate)
	case u.Plan != nil:
		e.print("  plan: %d entries", len(u.Plan.Entries))
	}
}

func (e *editor) say(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.quiet {
		return
	}
	if !e.talking {
		fmt.Fprint(e.show.out, "  agent: ")
	}
	e.talking = true
	fmt.Fprint(e.show.out, strings.ReplaceAll(text, "\n", "\n         "))
}

func (e *editor) note(id v1.ToolCallID, title string) {
	e.mu.Lock()
	e.calls[id] = title
	e.mu.Unlock()
}

func (e *editor) progress(u *v1.ToolCallUpdate) {
	e.mu.Lock()
	title := e.calls[u.ToolCallID]
	e.mu.Unlock()
	if u.Status == nil {
		return
	}
	switch *u.Status {
	case v1.ToolCallStatusCompleted, v1.ToolCallStatusFailed:
		e.print("  tool: %s: %s", title, *u.Status)
	}
}

// stopIfWanted cancels the turn that is to be cancelled, at its first sign of
// waiting.
func (e *editor) stopIfWanted(ctx context.Context, said string) {
	if e.cancelAt == "" || !strings.HasSuffix(said, ".") {
		return
	}
	id := e.cancelAt
	e.cancelAt = ""
	e.print("  you press stop")
	// A write can only fail with the connection, which prompt notices.
	_ = e.agent.Cancel(ctx, &v1.CancelNotification{SessionID: id})
}

// permission answers as this turn wants it, by the kind of the options.
func (e *editor) permission(_ context.Context, r *v1.RequestPermissionRequest) (*v1.RequestPermissionResponse, error) {
	want, word := v1.PermissionOptionKindRejectOnce, "no"
	if e.allow {
		want, word = v1.PermissionOptionKindAllowOnce, "yes, once"
	}
	for _, o := range r.Options {
		if o.Kind != want {
			continue
		}
		title := ""
		if r.ToolCall.Title != nil {
			title = *r.ToolCall.Title
		}
		e.print("  may I: %s? you: %s", title, word)
		return &v1.RequestPermissionResponse{Outcome: v1.RequestPermissionOutcome{
			Selected: &v1.SelectedPermissionOutcome{OptionID: o.OptionID},
		}}, nil
	}
	return nil, acp.Errorf(acp.CodeInvalidParams, "no option of kind %s", want)
}

func (e *editor) print(format string, args ...any) {
	e.breakLine()
	if !e.quiet {
		e.show.line(format, args...)
	}
}

// breakLine ends a message that was being printed.
func (e *editor) breakLine() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.talking {
		fmt.Fprintln(e.show.out)
	}
	e.talking = false
}

// shown is how many tool calls were shown.
func (e *editor) shown() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.calls)
}

// end closes the agent's input, as an editor does, and waits for its exit.
func (e *editor) end() error {
	if err := e.input.Close(); err != nil {
		return err
	}
	select {
	case err := <-e.ended:
		if err != nil {
			return fmt.Errorf("the agent did not end well: %w\n%s", err, e.logs.String())
		}
		return nil
	case <-time.After(exitBound):
		return errors.New("the agent did not end after its input was closed")
	}
}

// kill makes sure that no process is left, whatever happened.
func (e *editor) kill() {
	if e.cmd.ProcessState == nil {
		_ = e.cmd.Process.Kill() // it may just have ended
	}
}
