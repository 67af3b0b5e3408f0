package fieldtest

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"
)

// Dial says how a client comes to a gateway. The zero value is a tool of the
// owner's that goes straight to it.
type Dial struct {
	Addr      string      // host:port to connect to instead of the gateway's, such as a proxy's
	Query     string      // of the URL
	Header    http.Header // of the upgrade
	Protocols []string    // WebSocket subprotocols
	Anonymous bool        // do not send the token in a header
	TLS       *tls.Config // of a wss address

	// Reading, if it is not nil, holds reading back until it is closed.
	Reading <-chan struct{}
}

// Client is a WebSocket client of a gateway.
type Client struct {
	*Link
	conn *websocket.Conn
	tcp  net.Conn

	err error // what ended the connection, once Ended is closed

	Protocol string        // the subprotocol the gateway chose
	ID       string        // Acp-Connection-Id
	Ended    chan struct{} // closed when nothing more comes
}

// Connect is TryConnect for connections that have to work.
func (g *Gateway) Connect(d Dial) *Client {
	g.tb.Helper()
	c, resp, err := g.TryConnect(d)
	if err != nil {
		g.tb.Fatalf("connect to the gateway: %v (%v)\n%s", err, resp, g.Stderr())
	}
	return c
}

// TryConnect opens a WebSocket. If the gateway refuses, its HTTP response is
// returned with the error.
func (g *Gateway) TryConnect(d Dial) (*Client, *http.Response, error) {
	u, err := url.Parse(g.ACP)
	if err != nil {
		return nil, nil, err
	}
	u.RawQuery = d.Query
	header := d.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if !d.Anonymous {
		header.Set("Authorization", "Bearer "+Token)
	}
	c := &Client{Ended: make(chan struct{})}
	transport := &http.Transport{
		TLSClientConfig: d.TLS,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if d.Addr != "" {
				addr = d.Addr
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			c.tcp = conn
			if tcp, ok := conn.(*net.TCPConn); ok && d.Reading != nil {
				_ = tcp.SetReadBuffer(64 << 10) // what the system takes in does not count as read
			}
			return conn, err
		},
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: header, Subprotocols: d.Protocols,
	})
	if err != nil {
		transport.CloseIdleConnections()
		return nil, resp, err
	}
	conn.SetReadLimit(-1)
	c.conn, c.Protocol, c.ID = conn, conn.Subprotocol(), resp.Header.Get("Acp-Connection-Id")
	c.Link = newLink(g.w, func(line string) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return conn.Write(ctx, websocket.MessageText, []byte(line))
	}, g.Stderr)
	go func() {
		if d.Reading != nil {
			<-d.Reading
		}
		c.read()
	}()
	g.w.T.Cleanup(func() { c.Drop(); <-c.Ended })
	return c, resp, nil
}

// read collects what the gateway sends: one message a text frame.
func (c *Client) read() {
	defer close(c.Ended)
	defer c.end()
	for {
		kind, frame, err := c.conn.Read(context.Background())
		if err != nil {
			c.err = err
			return
		}
		if kind != websocket.MessageText {
			c.t.Errorf("the gateway sent a frame that is no text: %.200q", frame)
			continue
		}
		c.take(append(frame, '\n'))
	}
}

// Drop closes the TCP connection without a word.
func (c *Client) Drop() { _ = c.conn.CloseNow() }

// Reset breaks the TCP connection off, so that the gateway gets an RST.
func (c *Client) Reset() {
	if tcp, ok := c.tcp.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.tcp.Close()
}

// Hangup closes the connection as clients do that have finished.
func (c *Client) Hangup() { _ = c.conn.Close(websocket.StatusNormalClosure, "") }

// Ping asks the gateway for a sign of life within bound.
func (c *Client) Ping(bound time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return c.conn.Ping(ctx)
}

// Closed waits for the connection to end and returns the close code and reason
// that the gateway gave; -1 when it gave none.
func (c *Client) Closed() (code int, reason string) {
	<-c.Ended
	var closed websocket.CloseError
	if errors.As(c.err, &closed) {
		return int(closed.Code), closed.Reason
	}
	return -1, ""
}

// SendBinary sends a message as a binary frame.
func (c *Client) SendBinary(line string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.conn.Write(ctx, websocket.MessageBinary, []byte(line)); err != nil {
		c.t.Fatalf("write to the gateway: %v\n%s", err, c.log())
	}
}
