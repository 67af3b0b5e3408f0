package gateway

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/streamable"
	"github.com/grapnel-ai/grapnel/internal/door"
)

// bodyTimeout is how long a client that was let in may send nothing in the
// middle of a request.
const bodyTimeout = 30 * time.Second

// serveStream answers a request of Streamable HTTP that was admitted.
func (g *Gateway) serveStream(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		g.streams.ServeHTTP(w, r)
		return
	}
	r.Body = &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
	if !opensStream(r) {
		g.streams.ServeHTTP(w, r)
		return
	}
	inside, leave, err := g.opts.Door.Enter(g.work, passOf(r))
	if err != nil {
		door.Refuse(w, err)
		return
	}
	e := &entered{inside: inside, leave: leave}
	defer func() {
		if !e.served {
			leave() // it was no initialize
		}
	}()
	g.streams.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), enteredKey{}, e)))
}

// opensStream reports whether a request may open a connection.
func opensStream(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get(streamable.HeaderConnectionID) == ""
}

// entered is a connection that the door let in before there is one.
type entered struct {
	inside context.Context
	leave  func()
	served bool
}

// enteredKey finds it in the context of the request.
type enteredKey struct{}

// streamOwner binds a connection to the owner whose credential opened it, and to
// what that credential may do.
func streamOwner(r *http.Request) (string, error) { return passOf(r).Authority(), nil }

// openStream serves a new connection.
func (g *Gateway) openStream(r *http.Request, c acp.MessageConn, id string) {
	e, ok := r.Context().Value(enteredKey{}).(*entered)
	if !ok {
		_ = c.Close() // it always succeeds
		return
	}
	e.served = true
	one := &client{kind: overStreams, close: func(int, string) { _ = c.Close() }}
	o := g.connOptions(r, passOf(r), id)
	go func() {
		defer e.leave()
		g.serveClient(e.inside, one, c, o)
	}()
}

// boundBody gives a client a time to send its whole request. Where deadlines are
// not to be had there is none.
func boundBody(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
}

// pacedBody is a body whose client keeps sending.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // or without one
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		_ = b.control.SetReadDeadline(time.Time{}) // the answer may take its time
	}
	return n, err
}
