package acp_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/grapnel-ai/grapnel/acp"
)

// An agent on stdio. Here its input is a string and its output the example's.
func Example_agent() {
	stdin := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}` + "\n")

	var conn *acp.Conn
	conn = acp.NewConn(acp.NewStdio(stdin, os.Stdout, 0), acp.HandlerFuncs{
		Request: func(ctx context.Context, req *acp.Request) {
			switch req.Method {
			case "session/prompt":
				req.Go(ctx, func(ctx context.Context) (any, error) { return prompt(ctx, conn, req) })
			default:
				_ = req.Fail(acp.MethodNotFound(req.Method))
			}
		},
	}, nil)
	if err := conn.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"You said: hi"}}}}
	// {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}
}

type (
	text struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	update struct {
		Kind    string `json:"sessionUpdate"`
		Content text   `json:"content"`
	}
	notification struct {
		SessionID string `json:"sessionId"`
		Update    update `json:"update"`
	}
	result struct {
		StopReason string `json:"stopReason"`
	}
)

// prompt is one turn: it streams a chunk, and then the turn ends.
func prompt(ctx context.Context, conn *acp.Conn, req *acp.Request) (any, error) {
	var params struct {
		SessionID string `json:"sessionId"`
		Prompt    []text `json:"prompt"`
	}
	if err := json.Unmarshal(req.Params, &params); err != nil || len(params.Prompt) == 0 {
		return nil, acp.Errorf(acp.CodeInvalidParams, "session/prompt needs a prompt")
	}
	chunk := text{"text", "You said: " + params.Prompt[0].Text}
	err := conn.Notify(ctx, "session/update", notification{params.SessionID, update{"agent_message_chunk", chunk}})
	return result{"end_turn"}, err
}

// A client. Its agent runs in the same process, on the other end of a pipe.
func Example_client() {
	ctx := context.Background()
	near, far := acp.NewPipe()
	go runAgent(ctx, far)

	client := acp.NewConn(near, acp.HandlerFuncs{
		Request: func(_ context.Context, req *acp.Request) {
			fmt.Println("asked:", req.Method)
			_ = req.Reply(map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "allow-once"}})
		},
		Notification: func(_ context.Context, n *acp.Notification) {
			var params notification
			if err := json.Unmarshal(n.Params, &params); err == nil {
				fmt.Println("agent:", params.Update.Content.Text)
			}
		},
	}, nil)
	go client.Run(ctx)
	defer client.Close()

	answer, err := client.Call(ctx, "session/prompt", map[string]any{
		"sessionId": "s", "prompt": []text{{"text", "delete it"}},
	})
	var end result
	if err == nil {
		err = json.Unmarshal(answer, &end)
	}
	fmt.Println("turn:", end.StopReason, err)
	// Output:
	// asked: session/request_permission
	// agent: You said: delete it
	// turn: end_turn <nil>
}

// runAgent asks for permission in every turn.
func runAgent(ctx context.Context, mc acp.MessageConn) {
	var conn *acp.Conn
	conn = acp.NewConn(mc, acp.HandlerFuncs{Request: func(ctx context.Context, req *acp.Request) {
		req.Go(ctx, func(ctx context.Context) (any, error) {
			if _, err := conn.Call(ctx, "session/request_permission", nil); err != nil {
				return nil, err
			}
			return prompt(ctx, conn, req)
		})
	}}, nil)
	_ = conn.Run(ctx)
}
