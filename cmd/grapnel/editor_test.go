package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// talkBound is far more than the demo model needs.
const talkBound = 30 * time.Second

// editor is a client of a `grapnel acp` that a script started.
type editor struct {
	agent v1.AgentConn
	cmd   *exec.Cmd
	in    io.Closer
	ended chan error
}

func startEditor(ctx context.Context, ts *testscript.TestScript) *editor {
	e := &editor{ended: make(chan error, 1)}
	e.cmd = exec.Command(program(ts), "acp")
	e.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "USERPROFILE", "TMPDIR", "SystemRoot", "GORACE", "GOCOVERDIR", "TESTSCRIPT_COMMAND"} {
		if v := ts.Getenv(name); v != "" {
			e.cmd.Env = append(e.cmd.Env, name+"="+v)
		}
	}
	e.cmd.Stderr = os.Stderr
	in, err := e.cmd.StdinPipe()
	ts.Check(err)
	out, err := e.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(e.cmd.Start())
	e.in = in
	client := &v1.Client{RequestPermission: allow}
	e.agent.Conn = acp.NewConn(acp.NewStdio(out, in, 0), client.Handler(), nil)
	go func() { e.ended <- errors.Join(e.agent.Conn.Run(ctx), e.cmd.Wait()) }()
	_, err = e.agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1})
	ts.Check(err)
	return e
}

// program is the grapnel of scripts: the first directory of their PATH has it.
func program(ts *testscript.TestScript) string {
	name := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "grapnel")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

// allow chooses what the agent puts first.
func allow(_ context.Context, r *v1.RequestPermissionRequest) (*v1.RequestPermissionResponse, error) {
	return &v1.RequestPermissionResponse{Outcome: v1.RequestPermissionOutcome{
		Selected: &v1.SelectedPermissionOutcome{OptionID: r.Options[0].OptionID},
	}}, nil
}

// end closes the agent's input and waits for it.
func (e *editor) end() error {
	_ = e.in.Close()
	return <-e.ended
}

// talk NAME TEXT prompts an agent in a new session and puts the session's id
// into the variable NAME.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: talk NAME TEXT")
	}
	ctx, cancel := context.WithTimeout(context.Background(), talkBound)
	defer cancel()
	e := startEditor(ctx, ts)
	s, err := e.agent.NewSession(ctx, &v1.NewSessionRequest{Cwd: ts.MkAbs(".")})
	ts.Check(err)
	_, err = e.agent.Prompt(ctx, &v1.PromptRequest{
		SessionID: s.SessionID, Prompt: []v1.ContentBlock{{Text: &v1.TextContent{Text: args[1]}}},
	})
	ts.Check(err)
	ts.Check(e.end())
	ts.Setenv(args[0], string(s.SessionID))
}

// hold ID keeps a session open in an editor until the script ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold ID")
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := startEditor(ctx, ts)
	ts.Defer(func() {
		if err := e.end(); err != nil {
			ts.Logf("the editor's agent: %v", err)
		}
		cancel()
	})
	_, err := e.agent.ResumeSession(ctx, &v1.ResumeSessionRequest{SessionID: v1.SessionID(args[0]), Cwd: ts.MkAbs(".")})
	ts.Check(err)
}
