package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// Defaults of the options.
const (
	// DefaultPing is below the minute after which most proxies cut idle links.
	DefaultPing = 20 * time.Second
	// DefaultStall is how long a peer may read nothing.
	DefaultStall = time.Minute
)

// readBytes is what a reader keeps to put messages together; longer ones
// get memory of their own.
const readBytes = 4 << 10

// Conn is one WebSocket connection. It is an acp.MessageConn and an
// acp.BatchWriter: one goroutine reads, any number write or close.
type Conn struct {
	socket *websocket.Conn
	wire   *wire
	id     string
	max    int64
	ping   time.Duration

	scratch []byte // of the reader
	out     frames // of the one who holds the token of the wire
	control control

	closed chan struct{} // closed when the connection begins to end
	ended  sync.WaitGroup

	mu     sync.Mutex
	cause  error // why it ended, once it did
	closer sync.Once
}

func newConn(maxBytes int64, ping, stall time.Duration) *Conn {
	if maxBytes <= 0 {
		maxBytes = acp.DefaultMaxMessageBytes
	}
	if ping == 0 {
		ping = DefaultPing
	}
	if stall == 0 {
		stall = DefaultStall
	}
	c := &Conn{
		wire:    &wire{writing: make(chan struct{}, 1), stall: stall},
		max:     maxBytes,
		ping:    ping,
		control: control{kick: make(chan struct{}, 1)},
		closed:  make(chan struct{}),
	}
	c.wire.stalled = func() {
		c.drop(&CloseError{Code: CodePolicy, Reason: fmt.Sprintf("the peer read nothing for %v", stall)})
	}
	c.out.wire = c.wire
	return c
}

// start begins the life of the connection after its handshake.
func (c *Conn) start(socket *websocket.Conn, id string) {
	socket.SetReadLimit(-1) // the limit is ours, with a reason that says what to do
	c.socket, c.id = socket, id
	c.ended.Go(c.keepAlive)
}

// ID is the Acp-Connection-Id of the handshake, empty when it had none.
func (c *Conn) ID() string { return c.id }

// Subprotocol is what the handshake selected, empty for none.
func (c *Conn) Subprotocol() string { return c.socket.Subprotocol() }

// ReadMessage returns the next message. It returns io.EOF when the peer closed
// with 1000, 1001 or no code, acp.ErrClosed after Close and CloseWith, and a
// *CloseError for every other end. As with stdio, ctx does not interrupt it;
// Close does.
func (c *Conn) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, r, err := c.socket.Reader(context.Background())
	if err != nil {
		return nil, c.readFailed(err)
	}
	msg, err := c.readAll(r)
	switch {
	case err != nil:
		return nil, c.readFailed(err)
	case int64(len(msg)) > c.max:
		// Not wrapped: the engine goes on reading after a MessageTooLargeError.
		reason := (&acp.MessageTooLargeError{Limit: c.max}).Error()
		return nil, c.refuse(&CloseError{Code: CodeTooBig, Reason: reason})
	case !utf8.Valid(msg):
		return nil, c.refuse(&CloseError{Code: CodeNotText, Reason: "the message is not UTF-8"})
	}
	return msg, nil
}

// readAll reads a message up to one byte over the limit, into memory of its own.
func (c *Conn) readAll(r io.Reader) ([]byte, error) {
	if c.scratch == nil {
		c.scratch = make([]byte, readBytes)
	}
	buf, n := c.scratch, 0
	for int64(n) <= c.max {
		if n == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		got, err := r.Read(buf[n:min(int64(len(buf)), c.max+1)])
		n += got
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(buf) > len(c.scratch) {
		return buf[:n:n], nil // it is the message's own already
	}
	return append(make([]byte, 0, n), buf[:n]...), nil
}

// readFailed says why a read failed, and ends the connection.
func (c *Conn) readFailed(err error) error {
	var closed websocket.CloseError
	switch {
	case errors.As(err, &closed):
		return c.drop(closedByPeer(closed))
	case c.wire.lost.Load() || c.isClosed():
		return c.drop(&CloseError{Code: CodeLost, Reason: "the connection was lost", Err: err})
	default:
		return c.refuse(&CloseError{Code: CodeProtocol, Reason: "the peer broke the WebSocket protocol", Err: err})
	}
}
