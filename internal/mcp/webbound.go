package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/mcp/allowance"
	"github.com/grapnel-ai/grapnel/internal/mcp/stdio"
)

const (
	// headerBound is how long a server may take to begin answering anything but
	// a call.
	headerBound = 10 * time.Second
	// streamBurst and streamRate bound the bytes of an event stream: at once, and
	// per second after that.
	streamBurst = 32 << 20
	streamRate  = 4 << 20
	// eventBurst and eventRate bound its events likewise.
	eventBurst = 4000
	eventRate  = 2000
)

// errSlow is a server that does not begin to answer.
var errSlow = errors.New("it does not answer")

// errLarge is a response that is longer than any message may be.
var errLarge = errors.New("the server sent a message of more than 16 MiB")

// send does one request. All but calls have to be answered soon: a call takes
// what its tool takes, and has its own bound. Many servers leave the request for
// a stream of their own notifications hanging; such a server has none.
func (t *webTrip) send(r *http.Request, cancel context.CancelCauseFunc) (*http.Response, error) {
	if isCall(r) {
		return t.base.RoundTrip(r)
	}
	late := time.AfterFunc(headerBound, func() { cancel(errSlow) })
	resp, err := t.base.RoundTrip(r)
	if late.Stop() || !errors.Is(context.Cause(r.Context()), errSlow) {
		return resp, err
	}
	if err == nil {
		_ = resp.Body.Close()
	}
	if r.Method == http.MethodGet && t.origin.Path == r.URL.Path {
		return &http.Response{
			Status: statusText(http.StatusMethodNotAllowed), StatusCode: http.StatusMethodNotAllowed,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: r,
		}, nil
	}
	return nil, errSlow
}

// isCall reports whether a request carries a JSON-RPC request, whose answer may
// take long.
func isCall(r *http.Request) bool {
	if r.Method != http.MethodPost || r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	head, err := io.ReadAll(io.LimitReader(body, 1<<10))
	if err != nil {
		return false
	}
	return bytes.Contains(head, []byte(`"method":`)) && bytes.Contains(head, []byte(`"id":`))
}

// webBody is a response's body within bounds.
type webBody struct {
	io.ReadCloser
	done   func()
	stream bool // an event stream, which may go on for ever
	left   int64
	bytes  allowance.Allowance
	events allowance.Allowance
}

func newWebBody(resp *http.Response, done func()) *webBody {
	kind := resp.Header.Get("Content-Type")
	return &webBody{
		ReadCloser: resp.Body, done: done, stream: strings.HasPrefix(kind, "text/event-stream"), left: stdio.MaxLine,
		bytes: allowance.Allowance{Burst: streamBurst, Rate: streamRate}, events: allowance.Allowance{Burst: eventBurst, Rate: eventRate},
	}
}

// Read implements io.Reader.
func (b *webBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.stream {
		if b.left -= int64(n); b.left < 0 {
			return n, errLarge
		}
		return n, err
	}
	now := time.Now()
	wait := max(b.bytes.Take(n, now), b.events.Take(bytes.Count(p[:n], []byte("data:")), now))
	time.Sleep(wait) // a flood waits in the network's buffers
	return n, err
}

// Close implements io.Closer.
func (b *webBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
