package acp_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// serveEcho is a whole agent: it answers every prompt with its text. A program
// passes os.Stdin and os.Stdout.
func serveEcho(ctx context.Context, in io.Reader, out io.Writer) error {
	agent := &v1.Agent{}
	conn := acp.NewConn(acp.NewStdio(in, out, 0), agent.Handler(), nil)
	client := v1.ClientConn{Conn: conn}

	agent.Initialize = func(context.Context, *v1.InitializeRequest) (*v1.InitializeResponse, error) {
		return &v1.InitializeResponse{ProtocolVersion: 1}, nil
	}
	agent.NewSession = func(context.Context, *v1.NewSessionRequest) (*v1.NewSessionResponse, error) {
		return &v1.NewSessionResponse{SessionID: "s1"}, nil
	}
	agent.Prompt = func(ctx context.Context, p *v1.PromptRequest) (*v1.PromptResponse, error) {
		for _, block := range p.Prompt {
			chunk := &v1.ContentChunk{Content: block}
			err := client.SessionUpdate(ctx, &v1.SessionNotification{
				SessionID: p.SessionID,
				Update:    v1.SessionUpdate{AgentMessageChunk: chunk},
			})
			if err != nil {
				return nil, err
			}
		}
		return &v1.PromptResponse{StopReason: v1.StopReasonEndTurn}, nil
	}
	return conn.Run(ctx)
}

// An agent on stdio.
func Example_agent() {
	stdin := strings.NewReader(`
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me/project","mcpServers":[]}}
{"jsonrpc":"2.0","method":"_unknown/notification"}
`)
	if err := serveEcho(context.Background(), stdin, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}
}
