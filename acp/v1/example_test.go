package v1_test

import (
	"context"
	"fmt"

	"github.com/grapnel-ai/grapnel/acp"
	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// runEcho is an agent that repeats what it is told. On stdio it would run on
// acp.NewStdio(os.Stdin, os.Stdout, 0).
func runEcho(ctx context.Context, mc acp.MessageConn) error {
	var client v1.ClientConn
	agent := &v1.Agent{
		Initialize: func(context.Context, *v1.InitializeRequest) (*v1.InitializeResponse, error) {
			return &v1.InitializeResponse{ProtocolVersion: 1, AgentInfo: &v1.Implementation{Name: "echo", Version: "1"}}, nil
		},
		NewSession: func(context.Context, *v1.NewSessionRequest) (*v1.NewSessionResponse, error) {
			return &v1.NewSessionResponse{SessionID: "s1"}, nil
		},
		Prompt: func(ctx context.Context, req *v1.PromptRequest) (*v1.PromptResponse, error) {
			for _, block := range req.Prompt {
				err := client.SessionUpdate(ctx, &v1.SessionNotification{
					SessionID: req.SessionID,
					Update:    v1.SessionUpdate{AgentMessageChunk: &v1.ContentChunk{Content: block}},
				})
				if err != nil {
					return nil, err
				}
			}
			return &v1.PromptResponse{StopReason: v1.StopReasonEndTurn}, nil
		},
	}
	client.Conn = acp.NewConn(mc, agent.Handler(), nil)
	return client.Run(ctx)
}

// An agent and a client in one process.
func Example() {
	ctx := context.Background()
	near, far := acp.NewPipe()
	go func() { _ = runEcho(ctx, far) }()

	client := &v1.Client{
		SessionUpdate: func(_ context.Context, n *v1.SessionNotification) {
			if chunk := n.Update.AgentMessageChunk; chunk != nil && chunk.Content.Text != nil {
				fmt.Println("agent:", chunk.Content.Text.Text)
			}
		},
	}
	agent := v1.AgentConn{Conn: acp.NewConn(near, client.Handler(), nil)}
	go func() { _ = agent.Run(ctx) }()
	defer agent.Close()

	if _, err := agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1}); err != nil {
		fmt.Println(err)
		return
	}
	session, err := agent.NewSession(ctx, &v1.NewSessionRequest{Cwd: "/home/me/project"})
	if err != nil {
		fmt.Println(err)
		return
	}
	turn, err := agent.Prompt(ctx, &v1.PromptRequest{
		SessionID: session.SessionID,
		Prompt:    []v1.ContentBlock{{Text: &v1.TextContent{Text: "hello"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("turn:", turn.StopReason)
	// Output:
	// agent: hello
	// turn: end_turn
}
