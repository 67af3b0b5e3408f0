package streamable

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// onConnection is the name of the stream that belongs to no session.
const onConnection = ""

// errNotRead ends a connection whose client does not read.
var errNotRead = errors.New("the client read nothing of what waits for it")

// route is where the answer to a client's request goes.
type route struct {
	stream string
	load   string // the session whose stream is flushed first, empty for none
	count  int    // answers to come: an id used twice gets one for each
}

// conn is one connection. To the agent it is an acp.MessageConn.
type conn struct {
	id, owner string
	opts      *Options
	scan      *scanner
	in        chan jsontext.Value
	forget    func() // takes it out of the server

	initID string              // the id of the initialize request
	first  chan jsontext.Value // gets its answer

	closed chan struct{} // closed when it ends

	mu       sync.Mutex
	streams  map[string]*stream
	buffered int64             // bytes that wait in all streams
	progress chan struct{}     // closed and replaced when a client took something
	routes   map[string]*route // by the id of the client's request
	asked    map[string]string // by the id of the agent's request: its session
	started  bool              // initialize was answered
	users    int               // requests and streams in progress
	idle     *time.Timer
	ended    bool
	err      error // of reads and writes after the end
}

// ReadMessage returns what the client posts next. See acp.MessageConn.
func (c *conn) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	select {
	case msg := <-c.in:
		return msg, nil
	case <-c.closed:
		return nil, c.why()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// deliver hands a posted message to the agent.
func (c *conn) deliver(ctx context.Context, msg jsontext.Value) error {
	select {
	case c.in <- msg:
		return nil
	case <-c.closed:
		return c.why()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the connection from the agent's side. Streams that are open still
// get what waits for them.
func (c *conn) Close() error {
	c.end(acp.ErrClosed)
	return nil
}

// end ends the connection for the reason err and reports whether it was the first.
func (c *conn) end(err error) bool {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return false
	}
	c.ended, c.err = true, err
	if c.idle != nil {
		c.idle.Stop()
	}
	close(c.closed)
	c.mu.Unlock()
	c.forget()
	return true
}

func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// use notes that a request or a stream is in progress. It reports false when the
// connection has ended.
func (c *conn) use() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.users++
	return true
}

// unuse notes that it is over. When nothing is in progress for the idle time,
// the connection ends.
func (c *conn) unuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users--
	if c.users > 0 || c.ended {
		return
	}
	if c.idle == nil {
		c.idle = time.AfterFunc(c.opts.Idle, c.expire)
		return
	}
	c.idle.Reset(c.opts.Idle)
}

// expire ends the connection if it is still unused.
func (c *conn) expire() {
	c.mu.Lock()
	unused := c.users == 0
	c.mu.Unlock()
	if unused {
		c.end(io.EOF)
	}
}

// expect notes where the answer to the client's request h goes.
func (c *conn) expect(h head, session string) {
	if h.id == "" {
		return
	}
	r := &route{stream: session}
	if h.method == methodLoad {
		r.stream, r.load = onConnection, session
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.routes[h.id]; known != nil {
		r = known // the engine refuses the second request under the same id
	}
	r.count++
	c.routes[h.id] = r
}

// askedIn returns the session of the agent's request with this id.
func (c *conn) askedIn(id string) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	session, ok := c.asked[id]
	return session, ok
}

// answered forgets the agent's request with this id.
func (c *conn) answered(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, id)
}
