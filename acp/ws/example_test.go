package ws_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/acp/ws"
)

// serveAgent is an endpoint: each WebSocket is one connection of an agent.
func serveAgent(agent *v1.Agent) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// Here belongs who may connect, and from which Origin.
		socket, err := ws.Accept(w, r, ws.AcceptOptions{})
		if err != nil {
			return // it was answered
		}
		_ = acp.NewConn(socket, agent.Handler(), nil).Run(context.Background())
	}
}

// An agent on a server, and a client of it.
func Example() {
	server := httptest.NewServer(serveAgent(&v1.Agent{
		Initialize: func(context.Context, *v1.InitializeRequest) (*v1.InitializeResponse, error) {
			return &v1.InitializeResponse{ProtocolVersion: 1}, nil
		},
	}))
	defer server.Close()
	if err := connect(context.Background(), server.URL, "secret"); err != nil {
		fmt.Println(err)
	}
	// Output: protocol version 1
}

func connect(ctx context.Context, url, token string) error {
	header := http.Header{"Authorization": {"Bearer " + token}}
	socket, err := ws.Dial(ctx, url, ws.DialOptions{Header: header})
	if err != nil {
		return err
	}
	conn := acp.NewConn(socket, (&v1.Client{}).Handler(), nil)
	go conn.Run(ctx)
	defer conn.Close()
	answer, err := v1.AgentConn{Conn: conn}.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1})
	if err != nil {
		return err
	}
	fmt.Println("protocol version", answer.ProtocolVersion)
	return nil
}
