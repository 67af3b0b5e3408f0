package acp_test

import (
	"context"
	"fmt"
	"io"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// A client. A program starts the agent with os/exec and passes its pipes; here
// the agent runs on a goroutine.
func Example_client() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	toAgent, stdin := io.Pipe()
	stdout, fromAgent := io.Pipe()
	go serveEcho(ctx, toAgent, fromAgent)

	client := &v1.Client{
		SessionUpdate: func(_ context.Context, n *v1.SessionNotification) {
			if chunk := n.Update.AgentMessageChunk; chunk != nil && chunk.Content.Text != nil {
				fmt.Println("agent:", chunk.Content.Text.Text)
			}
		},
	}
	conn := acp.NewConn(acp.NewStdio(stdout, stdin, 0), client.Handler(), nil)
	go conn.Run(ctx)
	if err := greet(ctx, v1.AgentConn{Conn: conn}); err != nil {
		fmt.Println(err)
	}
	conn.Close()
	// Output:
	// agent: hello
	// turn over: end_turn
}

// greet runs one turn. Its updates have been handled when Prompt returns.
func greet(ctx context.Context, agent v1.AgentConn) error {
	if _, err := agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1}); err != nil {
		return err
	}
	session, err := agent.NewSession(ctx, &v1.NewSessionRequest{Cwd: "/home/me/project"})
	if err != nil {
		return err
	}
	turn, err := agent.Prompt(ctx, &v1.PromptRequest{
		SessionID: session.SessionID,
		Prompt:    []v1.ContentBlock{{Text: &v1.TextContent{Text: "hello"}}},
	})
	if err != nil {
		return err
	}
	fmt.Println("turn over:", turn.StopReason)
	return nil
}
