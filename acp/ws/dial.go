package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// DialOptions are the settings of the client's side. The zero value means the
// defaults.
type DialOptions struct {
	// Header goes with the handshake, for example Authorization.
	Header http.Header
	// HTTPClient makes the handshake: its Transport decides about proxies and
	// certificates, its Jar keeps cookies, which a client of ACP returns when it
	// connects again. Nil means http.DefaultClient, with proxies as the
	// environment says.
	HTTPClient *http.Client
	// Subprotocols are offered in this order.
	Subprotocols []string
	// MaxBytes, Ping and Stall are as in AcceptOptions.
	MaxBytes    int64
	Ping, Stall time.Duration
}

// Dial connects to a server at a ws, wss, http or https URL. ctx bounds the
// handshake alone. The error is one sentence without credentials: a
// *HandshakeError when there was an HTTP answer.
func Dial(ctx context.Context, url string, opts DialOptions) (*Conn, error) {
	if !isAddress(url) {
		return nil, errors.New("cannot connect: the address of a WebSocket server begins with ws:// or wss:// and a host")
	}
	c := newConn(opts.MaxBytes, opts.Ping, opts.Stall)
	c.out.client = true
	socket, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{
		HTTPClient:      tapped(opts.HTTPClient, c.wire),
		HTTPHeader:      opts.Header,
		Subprotocols:    opts.Subprotocols,
		CompressionMode: websocket.CompressionDisabled,
		OnPingReceived:  c.pinged,
	})
	if err != nil {
		return nil, dialError(url, resp, err)
	}
	c.start(socket, resp.Header.Get(HeaderConnectionID))
	return c, nil
}

// errDowngrade keeps a redirect from sending credentials unencrypted.
var errDowngrade = errors.New("it redirects from https to http")

// tapped returns client with a wire around the socket of its upgraded answer.
func tapped(client *http.Client, w *wire) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.Transport = tap{base: client.Transport, wire: w}
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme == "http" && via[len(via)-1].URL.Scheme == "https" {
			return errDowngrade
		}
		if client.CheckRedirect != nil {
			return client.CheckRedirect(req, via)
		}
		if len(via) >= 10 {
			return fmt.Errorf("it redirects %d times", len(via))
		}
		return nil
	}
	return &own
}

// tap is a transport that hands out the upgraded connection through a wire.
type tap struct {
	base http.RoundTripper
	wire *wire
}

// RoundTrip implements http.RoundTripper.
func (t tap) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	if rw, ok := resp.Body.(io.ReadWriteCloser); ok {
		t.wire.rw = rw
		resp.Body = t.wire
	}
	return resp, nil
}
