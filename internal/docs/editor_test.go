package docs

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// open starts grapnel as an editor does, opens a session in the project, says
// what prompts there are and closes its side. It returns the session's id.
func (w world) open(t *testing.T, args []string, prompts ...string) v1.SessionID {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := w.command(t, self, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := &v1.Client{RequestPermission: refuse}
	conn := acp.NewConn(acp.NewStdio(out, in, 0), client.Handler(), nil)
	ended := make(chan error, 1)
	go func() { ended <- conn.Run(context.Background()) }()
	id, err := converse(v1.AgentConn{Conn: conn}, w.project, prompts)
	if err != nil {
		t.Errorf("grapnel %q: %v", args, err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(<-ended, cmd.Wait()); err != nil {
		t.Errorf("grapnel %q did not end well: %v", args, err)
	}
	return id
}

func converse(agent v1.AgentConn, cwd string, prompts []string) (v1.SessionID, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1}); err != nil {
		return "", err
	}
	s, err := agent.NewSession(ctx, &v1.NewSessionRequest{Cwd: cwd})
	if err != nil {
		return "", err
	}
	for _, text := range prompts {
		_, err := agent.Prompt(ctx, &v1.PromptRequest{
			SessionID: s.SessionID, Prompt: []v1.ContentBlock{{Text: &v1.TextContent{Text: text}}},
		})
		if err != nil {
			return "", err
		}
	}
	return s.SessionID, nil
}

func refuse(context.Context, *v1.RequestPermissionRequest) (*v1.RequestPermissionResponse, error) {
	return nil, acp.Errorf(acp.CodeInternalError, "nobody is here")
}
