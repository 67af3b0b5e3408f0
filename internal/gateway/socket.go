package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// dialectProtocol is the subprotocol of the ZeroClaw dialect's clients.
const dialectProtocol = "zeroclaw.acp.v1"

// chosen is the subprotocol to select of those that are offered: the dialect's,
// or else the first that holds no credential. ACP names none, but a browser
// that offers its token among some fails when none is selected.
func chosen(r *http.Request) string {
	first := ""
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			switch name = strings.TrimSpace(name); {
			case name == dialectProtocol:
				return name
			case first == "" && !strings.HasPrefix(name, "bearer."):
				first = name
			}
		}
	}
	return first
}

// serveSocket answers a WebSocket handshake that was admitted, and serves the
// connection.
func (g *Gateway) serveSocket(w http.ResponseWriter, r *http.Request) {
	pass := passOf(r)
	inside, leave, err := g.opts.Door.Enter(g.work, pass)
	if err != nil {
		door.Refuse(w, err)
		return
	}
	o := g.connOptions(r, pass, newConnectionID())
	c, err := ws.Accept(w, r, ws.AcceptOptions{
		ID: o.ID, Subprotocol: chosen(r), MaxBytes: g.opts.MaxBytes, Ping: g.opts.Ping, Stall: g.opts.Stall,
	})
	if err != nil {
		leave()
		return // it was answered
	}
	o.Dialect = c.Subprotocol() == dialectProtocol
	var mc acp.MessageConn = c
	if !o.Dialect {
		mc = &strict{Conn: c}
	}
	one := &client{kind: overSocket, close: func(code int, reason string) { _ = c.CloseWith(code, reason) }}
	go func() { // on a goroutine of its own, so that nothing of the request is kept
		defer leave()
		g.serveClient(inside, one, mc, o)
	}()
}

// connOptions are what is known of a connection before it says anything.
func (g *Gateway) connOptions(r *http.Request, p door.Pass, id string) serve.ConnOptions {
	return serve.ConnOptions{
		Owner: p.Owner, Role: p.Role, Agents: p.Agents, Local: p.Local, ID: id,
		Agent: strings.TrimSpace(r.URL.Query().Get("agent")),
		Limit: func() (wait time.Duration) { return g.opts.Door.Count(p.Owner) },
	}
}

// newConnectionID is 128 random bits: who knows it may go on with the
// connection, if the credential is the same owner's.
func newConnectionID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// serveClient serves a connection until it ends. The end of inside is that of
// the credential, or of the gateway.
func (g *Gateway) serveClient(inside context.Context, one *client, mc acp.MessageConn, o serve.ConnOptions) {
	if !g.clients.add(one) {
		one.close(ws.CodeGoingAway, "the gateway is shutting down")
		return
	}
	defer g.clients.remove(one)
	stop := context.AfterFunc(inside, func() {
		if cause := context.Cause(inside); !errors.Is(cause, context.Canceled) {
			one.close(ws.CodePolicy, cause.Error())
		}
	})
	defer stop()
	if err := g.opts.Serve(g.work, mc, o); err != nil {
		g.opts.Logger.Debug("an ACP connection ended", "owner", o.Owner, "err", err)
	}
	one.close(ws.CodeNormal, "")
}

// strict is a WebSocket whose first message must be initialize.
type strict struct {
	*ws.Conn
	begun bool // used by the one goroutine that reads
}

// ReadMessage implements acp.MessageConn.
func (s *strict) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	msg, err := s.Conn.ReadMessage(ctx)
	if err != nil || s.begun {
		return msg, err
	}
	method, call := methodOf(msg)
	if !call {
		return msg, nil // broken, and answered as such
	}
	s.begun = true
	if method != "initialize" {
		const reason = "First message must be initialize"
		_ = s.CloseWith(ws.CodeProtocol, reason) // it always succeeds
		return nil, &ws.CloseError{Code: ws.CodeProtocol, Reason: reason}
	}
	return msg, nil
}

// methodOf returns the method of a message; false for what is no JSON object.
func methodOf(msg jsontext.Value) (method string, ok bool) {
	var head struct {
		Method jsontext.Value `json:"method"`
	}
	if msg.Kind() != '{' || json.Unmarshal(msg, &head, jsontext.AllowDuplicateNames(true)) != nil {
		return "", false
	}
	_ = json.Unmarshal(head.Method, &method) // what is no string is no method
	return method, true
}
