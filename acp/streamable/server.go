package streamable

import (
	"net/http"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
)

// Options are the settings of a Server. The zero value of a number means its
// default.
type Options struct {
	// Owner authenticates a request and names who it belongs to. When it fails,
	// it is an error of the credentials: the answer is 401, or that of an error
	// that is an http.Handler. Nil means that everyone is the same.
	Owner func(*http.Request) (string, error)
	// Open gets each new connection with its id, once a client has initialized.
	// It must not block: it starts what serves c, which reads the initialize
	// request first. r is the request that opened it.
	Open func(r *http.Request, c acp.MessageConn, id string)
	// MaxBytes bounds an incoming message; default acp.DefaultMaxMessageBytes.
	MaxBytes int64
	// MaxBuffered bounds what waits for the client, per connection; default 64 MiB.
	MaxBuffered int64
	// Stall is how long a full buffer may wait for a client before the
	// connection ends; default one minute.
	Stall time.Duration
	// Keepalive is how often a silent stream gets a comment; default 15 seconds.
	Keepalive time.Duration
}

// Server serves the endpoint. It is an http.Handler for POST, GET and DELETE.
type Server struct {
	opts Options
}

// NewServer returns a Server.
func NewServer(opts Options) *Server { return &Server{opts: opts} }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "not served yet", http.StatusNotImplemented)
}
