package streamable

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// host is a server on a real socket, and a client for it.
type host struct {
	*httptest.Server
	t      *testing.T
	server *Server
	conns  chan acp.MessageConn
	header http.Header // goes with each request
}

// wires are the protocols everything is tested over.
var wires = []string{"HTTP/1.1", "HTTP/2 over TLS", "HTTP/2 without TLS"}

// serve starts a server. Its owner is what the header Owner says; without one a
// request has no valid credentials.
func serve(t *testing.T, wire string, opts Options) *host {
	t.Helper()
	h := &host{t: t, conns: make(chan acp.MessageConn, 16), header: http.Header{"Owner": {"me"}}}
	opts.Open = func(_ *http.Request, c acp.MessageConn, _ string) { h.conns <- c }
	opts.Owner = func(r *http.Request) (string, error) {
		if owner := r.Header.Get("Owner"); owner != "" {
			return owner, nil
		}
		return "", errors.New("no credentials")
	}
	h.server = NewServer(opts)
	h.Server = httptest.NewUnstartedServer(h.server)
	switch wire {
	case "HTTP/2 over TLS":
		h.EnableHTTP2 = true
		h.StartTLS()
	case "HTTP/2 without TLS":
		h.Config.Protocols = new(http.Protocols)
		h.Config.Protocols.SetUnencryptedHTTP2(true)
		h.Start()
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		h.Client().Transport = transport
		t.Cleanup(transport.CloseIdleConnections)
	default:
		h.Start()
	}
	t.Cleanup(func() {
		h.server.Close()
		h.Close()
	})
	return h
}

// do sends a request. header has pairs of names and values, of which the later
// ones win; an empty value takes a header away.
func (h *host) do(method, body string, header ...string) *http.Response {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, h.URL, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header = h.header.Clone()
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := h.Client().Do(req)
	if err != nil {
		h.t.Fatalf("%s: %v", method, err)
	}
	h.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// want checks the status and returns the body.
func (h *host) want(status int, resp *http.Response) string {
	h.t.Helper()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status {
		h.t.Fatalf("HTTP %d %q, want %d", resp.StatusCode, body, status)
	}
	return strings.TrimSpace(string(body))
}

const (
	initRequest = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`
	initAnswer  = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
)

// open initializes a connection. It returns its agent's end and its id.
func (h *host) open() (acp.MessageConn, string) {
	h.t.Helper()
	agent := make(chan acp.MessageConn, 1)
	go func() {
		c := <-h.conns
		_, _ = c.ReadMessage(context.Background())
		_ = c.WriteMessage(context.Background(), jsontext.Value(initAnswer))
		agent <- c
	}()
	resp := h.do("POST", initRequest)
	if body := h.want(200, resp); body != initAnswer {
		h.t.Fatalf("initialize was answered with %s", body)
	}
	return <-agent, resp.Header.Get(HeaderConnectionID)
}

// events opens a stream; session may be empty.
func (h *host) events(id, session string) *reader {
	h.t.Helper()
	resp := h.do("GET", "", HeaderConnectionID, id, HeaderSessionID, session)
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-cache" {
		h.t.Fatalf("HTTP %d, %v", resp.StatusCode, resp.Header)
	}
	return &reader{t: h.t, body: resp.Body, lines: bufio.NewReader(resp.Body)}
}

// reader reads a stream.
type reader struct {
	t     *testing.T
	body  io.Closer
	lines *bufio.Reader
}

// next returns the data of the next event, or its comment, "" at the end.
func (r *reader) next() string {
	r.t.Helper()
	text, err := r.lines.ReadString('\n')
	if err != nil {
		return ""
	}
	if blank, _ := r.lines.ReadString('\n'); blank != "\n" {
		r.t.Fatalf("%q is followed by %q, not by the end of the event", text, blank)
	}
	return strings.TrimPrefix(strings.TrimSuffix(text, "\n"), "data: ")
}

func (h *host) send(c acp.MessageConn, msgs ...string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, m := range msgs {
		if err := c.WriteMessage(ctx, jsontext.Value(m)); err != nil {
			h.t.Fatalf("write %s: %v", m, err)
		}
	}
}

// post sends a message whose status is already decided by what the agent takes.
func (h *host) post(c acp.MessageConn, msg string, header ...string) {
	h.t.Helper()
	got := make(chan string, 1)
	go func() {
		m, err := c.ReadMessage(context.Background())
		if err != nil {
			m = jsontext.Value(err.Error())
		}
		got <- string(m)
	}()
	h.want(202, h.do("POST", msg, header...))
	if m := <-got; m != msg {
		h.t.Errorf("the agent got %s, want %s", m, msg)
	}
}
