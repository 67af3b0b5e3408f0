package app

import (
	"context"
	"net"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// askThere makes one request, in ACP, of the instance behind a socket, and reads
// the answer into result unless that is nil.
func askThere(ctx context.Context, socket, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, askInstance)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	conn := acp.NewConn(acp.NewStdio(nc, nc, 0), nil, nil)
	ended := make(chan error, 1)
	go func() { ended <- conn.Run(ctx) }()
	agent := v1.AgentConn{Conn: conn}
	_, err = agent.Initialize(ctx, &v1.InitializeRequest{ProtocolVersion: 1})
	var answer []byte
	if err == nil {
		answer, err = conn.Call(ctx, method, params)
	}
	_ = conn.Close()
	<-ended
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	return err
}
