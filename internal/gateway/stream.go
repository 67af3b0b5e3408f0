package gateway

import (
	"io"
	"net/http"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
)

// bodyTimeout is how long a client that was let in may send nothing in the
// middle of a request.
const bodyTimeout = 30 * time.Second

// serveStream answers a request of Streamable HTTP that was admitted.
func (g *Gateway) serveStream(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		r.Body = &pacedBody{ReadCloser: r.Body, control: http.NewResponseController(w)}
	}
	g.streams.ServeHTTP(w, r)
}

// streamOwner binds a connection to the owner whose credential opened it, and to
// what that credential may do.
func streamOwner(r *http.Request) (string, error) { return passOf(r).Authority(), nil }

// openStream serves a new connection. Too many of one owner's end at once.
func (g *Gateway) openStream(r *http.Request, c acp.MessageConn, id string) {
	pass := passOf(r)
	inside, leave, err := g.opts.Door.Enter(g.work, pass)
	if err != nil {
		g.opts.Logger.Warn("a connection was refused", "owner", pass.Owner, "err", err)
		_ = c.Close()
		return
	}
	one := &client{kind: overStreams, close: func(int, string) { _ = c.Close() }}
	o := g.connOptions(r, pass, id)
	go func() {
		defer leave()
		g.serveClient(inside, one, c, o)
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
