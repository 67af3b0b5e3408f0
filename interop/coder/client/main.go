// Command client drives an agent through the Go SDK of coder and prints what
// came of it as JSON: a turn with a tool and a permission, a turn that is
// cancelled, the list, a close, a load and one more turn.
//
//	client AGENT [ARG...]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// patience bounds the whole story.
const patience = time.Minute

// result is what the client prints.
type result struct {
	Permissions int
	Tool        turn // with a tool that needs permission
	Cancelled   turn
	Listed      bool
	Replay      string // what the load showed of the first turn
	Again       turn
}

// turn is what came of a prompt.
type turn struct {
	Stop acp.StopReason
	Text string
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		os.Exit(1)
	}
}

// run starts the agent, plays the story and ends the agent.
func run(ctx context.Context, command []string) (r result, err error) {
	if len(command) == 0 {
		return r, errors.New("the command of an agent is missing")
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return r, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return r, err
	}
	if err := cmd.Start(); err != nil {
		return r, err
	}
	p := &player{begun: make(chan struct{}, 1)}
	p.conn = acp.NewClientSideConnection(p, stdin, stdout)
	p.conn.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	r, err = p.play(ctx)
	_ = stdin.Close()
	<-p.conn.Done()
	return r, errors.Join(err, cmd.Wait())
}

// player is the client. What it does not offer fails.
type player struct {
	conn  *acp.ClientSideConnection
	begun chan struct{} // an answer has begun

	mu          sync.Mutex
	text        string
	permissions int
}

func (p *player) play(ctx context.Context) (r result, err error) {
	cwd, err := os.Getwd()
	if err != nil {
		return r, err
	}
	_, err = p.conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil {
		return r, fmt.Errorf("initialize: %w", err)
	}
	s, err := p.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: cwd, McpServers: []acp.McpServer{}})
	if err != nil {
		return r, fmt.Errorf("session/new: %w", err)
	}
	if r.Tool, err = p.prompt(ctx, s.SessionId, "D:TOOL shell touch by-coder ; D:SAY It is done."); err != nil {
		return r, err
	}
	if r.Cancelled, err = p.cancel(ctx, s.SessionId); err != nil {
		return r, err
	}
	if r.Listed, err = p.listed(ctx, s.SessionId); err != nil {
		return r, err
	}
	if _, err = p.conn.CloseSession(ctx, acp.CloseSessionRequest{SessionId: s.SessionId}); err != nil {
		return r, fmt.Errorf("session/close: %w", err)
	}
	p.said() // nothing yet of the replay
	load := acp.LoadSessionRequest{SessionId: s.SessionId, Cwd: cwd, McpServers: []acp.McpServer{}}
	if _, err = p.conn.LoadSession(ctx, load); err != nil {
		return r, fmt.Errorf("session/load: %w", err)
	}
	r.Replay = p.said()
	r.Again, err = p.prompt(ctx, s.SessionId, "D:SAY And on.")
	r.Permissions = p.permissions
	return r, err
}

// prompt runs a turn.
func (p *player) prompt(ctx context.Context, id acp.SessionId, text string) (turn, error) {
	p.said()
	r, err := p.conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
	if err != nil {
		return turn{}, fmt.Errorf("session/prompt: %w", err)
	}
	return turn{r.StopReason, p.said()}, nil
}

// cancel runs a turn that is cancelled once its answer begins.
func (p *player) cancel(ctx context.Context, id acp.SessionId) (turn, error) {
	select {
	case <-p.begun: // of an earlier turn
	default:
	}
	failed := make(chan error, 1)
	go func() {
		<-p.begun
		failed <- p.conn.Cancel(ctx, acp.CancelNotification{SessionId: id})
	}()
	t, err := p.prompt(ctx, id, "D:SAY It begins. ; D:STALL")
	if err != nil {
		return t, err
	}
	return t, <-failed
}

func (p *player) listed(ctx context.Context, id acp.SessionId) (bool, error) {
	r, err := p.conn.ListSessions(ctx, acp.ListSessionsRequest{})
	if err != nil {
		return false, fmt.Errorf("session/list: %w", err)
	}
	for _, s := range r.Sessions {
		if s.SessionId == id {
			return true, nil
		}
	}
	return false, nil
}

// said returns what the agent has said since the last time.
func (p *player) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.text
	p.text = ""
	return text
}

// SessionUpdate implements acp.Client.
func (p *player) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	chunk := n.Update.AgentMessageChunk
	if chunk == nil || chunk.Content.Text == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text += chunk.Content.Text.Text
	select {
	case p.begun <- struct{}{}:
	default:
	}
	return nil
}

// RequestPermission implements acp.Client: it allows once.
func (p *player) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permissions++
	for _, o := range r.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeCancelled()}, nil
}

// ReadTextFile implements acp.Client.
func (p *player) ReadTextFile(context.Context, acp.ReadTextFileRequest) (r acp.ReadTextFileResponse, err error) {
	return r, notOffered("fs/read_text_file")
}

// WriteTextFile implements acp.Client.
func (p *player) WriteTextFile(context.Context, acp.WriteTextFileRequest) (r acp.WriteTextFileResponse, err error) {
	return r, notOffered("fs/write_text_file")
}

// CreateTerminal implements acp.Client.
func (p *player) CreateTerminal(context.Context, acp.CreateTerminalRequest) (r acp.CreateTerminalResponse, err error) {
	return r, notOffered("terminal/create")
}

// KillTerminal implements acp.Client.
func (p *player) KillTerminal(context.Context, acp.KillTerminalRequest) (r acp.KillTerminalResponse, err error) {
	return r, notOffered("terminal/kill")
}

// TerminalOutput implements acp.Client.
func (p *player) TerminalOutput(context.Context, acp.TerminalOutputRequest) (r acp.TerminalOutputResponse, err error) {
	return r, notOffered("terminal/output")
}

// ReleaseTerminal implements acp.Client.
func (p *player) ReleaseTerminal(context.Context, acp.ReleaseTerminalRequest) (r acp.ReleaseTerminalResponse, err error) {
	return r, notOffered("terminal/release")
}

// WaitForTerminalExit implements acp.Client.
func (p *player) WaitForTerminalExit(context.Context, acp.WaitForTerminalExitRequest) (r acp.WaitForTerminalExitResponse, err error) {
	return r, notOffered("terminal/wait_for_exit")
}

func notOffered(method string) error { return acp.NewMethodNotFound(method) }
