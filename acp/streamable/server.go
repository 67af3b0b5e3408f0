package streamable

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// The headers that name a connection and a session.
const (
	HeaderConnectionID = "Acp-Connection-Id"
	HeaderSessionID    = "Acp-Session-Id"
)

// maxIDBytes bounds the ids in headers and those of requests.
const maxIDBytes = 1024

// Defaults of Options.
const (
	DefaultMaxBuffered = 64 << 20
	DefaultStall       = time.Minute
	DefaultKeepalive   = 15 * time.Second
	DefaultIdle        = 5 * time.Minute
)

// Options are the settings of a Server. The zero value of a number means its
// default.
type Options struct {
	// Owner authenticates a request and names who it belongs to; every request
	// is asked. An error is answered with 401 and its text. A connection of
	// another owner does not exist. Nil means that everyone is the same.
	Owner func(*http.Request) (string, error)
	// Open gets each new connection with its id. It must not block: it starts
	// what serves c, which is an acp.BatchWriter too and reads the initialize
	// request first. r is the request that opened it, and is over once
	// initialize is answered: its context is not that of the connection.
	Open func(r *http.Request, c acp.MessageConn, id string)
	// MaxBytes bounds a posted message; default acp.DefaultMaxMessageBytes.
	MaxBytes int64
	// MaxBuffered bounds in bytes what waits for the client, per connection.
	MaxBuffered int64
	// Stall is how long a full buffer waits for the client before the connection
	// ends, and how long an open stream waits for its reader.
	Stall time.Duration
	// Keepalive is how often a silent stream gets a comment.
	Keepalive time.Duration
	// Idle is how long a connection lives without any stream or request.
	Idle time.Duration
}

func (o *Options) setDefaults() {
	if o.MaxBytes <= 0 {
		o.MaxBytes = acp.DefaultMaxMessageBytes
	}
	if o.MaxBuffered <= 0 {
		o.MaxBuffered = DefaultMaxBuffered
	}
	if o.Stall <= 0 {
		o.Stall = DefaultStall
	}
	if o.Keepalive <= 0 {
		o.Keepalive = DefaultKeepalive
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.Owner == nil {
		o.Owner = func(*http.Request) (string, error) { return "", nil }
	}
}

// Server serves the endpoint: it is an http.Handler for POST, GET and DELETE,
// and refuses the rest. It looks at no Origin, which is decided before.
type Server struct {
	opts Options
	scan scanner

	mu     sync.Mutex
	conns  map[string]*conn
	closed bool
}

// NewServer returns a Server. Options.Open must be set.
func NewServer(opts Options) *Server {
	opts.setDefaults()
	return &Server{opts: opts, conns: make(map[string]*conn)}
}

// Close ends every connection, which for the agent is the end of its input.
// What waits for open streams is still written. New connections are refused
// with 503.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	var conns []*conn
	for _, c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.end(io.EOF)
	}
	return nil
}

var errShutdown = errors.New("the server is shutting down")

// create returns a new connection that begins with the request h.
func (s *Server) create(owner string, h head) (*conn, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	c := &conn{
		id:       hex.EncodeToString(random[:]),
		owner:    owner,
		opts:     &s.opts,
		scan:     &s.scan,
		in:       make(chan jsontext.Value),
		initID:   h.id,
		first:    make(chan jsontext.Value, 1),
		closed:   make(chan struct{}),
		streams:  make(map[string]*stream),
		progress: make(chan struct{}),
		routes:   make(map[string]*route),
		asked:    make(map[string]string),
		users:    1,
	}
	c.forget = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c.id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errShutdown
	}
	s.conns[c.id] = c
	return c, nil
}

// find returns a connection of owner and marks it as used, or nil.
func (s *Server) find(id, owner string) *conn {
	s.mu.Lock()
	c := s.conns[id]
	s.mu.Unlock()
	if c == nil || c.owner != owner || !c.use() {
		return nil
	}
	return c
}
