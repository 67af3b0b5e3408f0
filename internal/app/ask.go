package app

import (
	"context"
	"net"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	v1 "github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// askThere makes one request, in ACP, of the instance behind a socket, and reads
// the answer into result unless that is nil.
func askThere(ctx context.Context, socket, method string, params, result any) error {
	return askAs(ctx, socket, "", method, params, result)
}

// askAs is askThere as the owner of a session, whoever that is: who runs commands
// here has the whole store. "" is the local owner.
func askAs(ctx context.Context, socket, owner, method string, params, result any) error {
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
	hello := v1.InitializeRequest{ProtocolVersion: 1}
	if owner != "" {
		hello.ClientCapabilities.Meta, err = serve.OnBehalfOf(owner)
	}
	if err == nil {
		_, err = agent.Initialize(ctx, &hello)
	}
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
