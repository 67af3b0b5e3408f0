package streamable_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/streamable"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// newEndpoint is an endpoint for one who has the token.
func newEndpoint(agent *v1.Agent, token string) *streamable.Server {
	return streamable.NewServer(streamable.Options{
		Owner: func(r *http.Request) (string, error) {
			if r.Header.Get("Authorization") != "Bearer "+token {
				return "", errors.New("the token is missing or wrong")
			}
			return "me", nil
		},
		Open: func(_ *http.Request, c acp.MessageConn, _ string) {
			go acp.NewConn(c, agent.Handler(), nil).Run(context.Background())
		},
	})
}

// An agent on a server, and what goes over the wire.
func Example() {
	endpoint := newEndpoint(&v1.Agent{
		Initialize: func(context.Context, *v1.InitializeRequest) (*v1.InitializeResponse, error) {
			return &v1.InitializeResponse{ProtocolVersion: 1}, nil
		},
		NewSession: func(context.Context, *v1.NewSessionRequest) (*v1.NewSessionResponse, error) {
			return &v1.NewSessionResponse{SessionID: "s1"}, nil
		},
	}, "secret")
	server := httptest.NewServer(endpoint)
	defer server.Close()
	defer endpoint.Close()

	send := func(method, id, body string) *http.Response {
		req, _ := http.NewRequest(method, server.URL, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
		if id != "" {
			req.Header.Set(streamable.HeaderConnectionID, id)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		return resp
	}
	opened := send("POST", "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	defer opened.Body.Close()
	id := opened.Header.Get(streamable.HeaderConnectionID)
	events := send("GET", id, "")
	defer events.Body.Close()
	posted := send("POST", id, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/me/project","mcpServers":[]}}`)
	defer posted.Body.Close()
	event, _ := bufio.NewReader(events.Body).ReadString('\n')
	fmt.Println(opened.StatusCode, events.StatusCode, posted.StatusCode)
	fmt.Print(event)
	// Output:
	// 200 200 202
	// data: {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}
}
