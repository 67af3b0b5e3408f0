package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/grapnel-ai/grapnel/internal/mcp/allowance"
	"github.com/grapnel-ai/grapnel/internal/proc"
)

const (
	// maxUnasked is the longest message a server may send that is no response.
	maxUnasked = 256 << 10
	// unaskedBurst and unaskedRate bound the messages that are no responses: at
	// once, and per second after that.
	unaskedBurst = 4000
	unaskedRate  = 2000
	// maxPending is how many requests of a server may be unanswered.
	maxPending = 64
)

// conn is one connection (mcp.Connection). Read is called by one goroutine;
// Write and Close by any.
type conn struct {
	proc   *proc.Proc
	stdin  io.WriteCloser
	stdout *os.File
	noise  *proc.Tail

	// of Read alone
	lines *lines
	queue []jsonrpc.Message // of a batch
	rate  allowance.Allowance

	out     chan []byte
	deaf    chan struct{} // Read has failed: the connection is over
	hearing sync.Once
	closing chan struct{} // Close was called
	ending  sync.Once

	mu      sync.Mutex
	calls   map[jsonrpc.ID]bool // ours, unanswered
	pending int                 // the server's, unanswered
	failed  error               // of a write, once
}

func newConn(p *proc.Proc, stdout *os.File, noise *proc.Tail, maxLine int) *conn {
	if maxLine == 0 {
		maxLine = MaxLine
	}
	c := &conn{
		proc: p, stdin: p.Stdin(), stdout: stdout, noise: noise,
		lines: newLines(stdout, maxLine), out: make(chan []byte, outbox),
		rate:    allowance.Allowance{Burst: unaskedBurst, Rate: unaskedRate},
		deaf:    make(chan struct{}),
		closing: make(chan struct{}), calls: make(map[jsonrpc.ID]bool),
	}
	go c.write()
	return c
}

// SessionID implements mcp.Connection: there is none on pipes.
func (c *conn) SessionID() string { return "" }

// Read implements mcp.Connection. Lines that are no messages are put aside.
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.read(ctx)
	if err != nil {
		c.hearing.Do(func() { close(c.deaf) })
	}
	return m, err
}

func (c *conn) read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.next()
		if err != nil {
			return nil, c.readError(err)
		}
		if m == nil {
			continue
		}
		keep, err := c.admit(ctx, m)
		if err != nil {
			return nil, err
		}
		if keep {
			return m, nil
		}
	}
}

// readError says why nothing more can be read.
func (c *conn) readError(err error) error {
	select {
	case <-c.closing:
		return io.EOF
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return err
}

// next returns the next message; nil where there was something else.
func (c *conn) next() (jsonrpc.Message, error) {
	if len(c.queue) > 0 {
		m := c.queue[0]
		c.queue = c.queue[1:]
		return m, nil
	}
	l, err := c.lines.next()
	if err != nil {
		return nil, err
	}
	if l.long {
		return c.tooLong(l)
	}
	list, err := decode(l.text)
	if err != nil {
		c.putAside(l.text)
		return nil, nil
	}
	if len(list) == 0 {
		return nil, nil
	}
	if _, response := list[0].(*jsonrpc.Response); len(l.text) > maxUnasked && !response {
		c.putAside(l.text)
		return nil, nil
	}
	c.queue = list[1:]
	return list[0], nil
}

// tooLong turns an over-long line into the failure of the call it answers.
// Where that cannot be told, the connection ends: some call would wait for ever.
func (c *conn) tooLong(l line) (jsonrpc.Message, error) {
	id, ok := idOf(l.head, l.tail)
	c.mu.Lock()
	ok = ok && c.calls[id]
	c.mu.Unlock()
	why := fmt.Sprintf("the server sent a message of more than %d MiB", c.lines.max>>20)
	if !ok {
		return nil, errors.New(why)
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why + "; ask it for less"}}, nil
}

func (c *conn) putAside(text []byte) {
	if c.noise != nil {
		_, _ = c.noise.Write(text)
		_, _ = c.noise.Write([]byte{'\n'})
	}
}

// admit keeps account of what the server sends, and holds it to a rate.
func (c *conn) admit(ctx context.Context, m jsonrpc.Message) (bool, error) {
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, m.ID)
		return true, nil
	case *jsonrpc.Request:
		if err := c.slowDown(ctx); err != nil {
			return false, err
		}
		if !m.IsCall() {
			return heard(m.Method), nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pending++; c.pending > maxPending {
			return false, fmt.Errorf("the server asked %d things without waiting for an answer", maxPending)
		}
		return true, nil
	}
	return false, nil
}

// heard reports whether anybody listens to a notification.
func heard(method string) bool {
	switch method {
	case "notifications/tools/list_changed", "notifications/progress", "notifications/cancelled":
		return true
	}
	return false
}

func (c *conn) slowDown(ctx context.Context) error {
	wait := c.rate.Take(1, time.Now())
	if wait == 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closing:
		return io.EOF
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write implements mcp.Connection. It hands the message to the writing
// goroutine, so that a server that reads nothing holds up nobody who gives up.
func (c *conn) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	c.account(m)
	select {
	case c.out <- append(data, '\n'):
		return nil
	case <-c.deaf:
		return io.ErrClosedPipe
	case <-c.closing:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *conn) account(m jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.pending--
	case *jsonrpc.Request:
		if m.IsCall() {
			c.calls[m.ID] = true
		}
	}
}

// write passes messages on until the connection ends.
func (c *conn) write() {
	for {
		select {
		case <-c.closing:
			return
		case data := <-c.out:
			if err := c.writeOne(data); err != nil {
				c.mu.Lock()
				c.failed = err
				c.mu.Unlock()
				_ = c.stdout.SetReadDeadline(time.Unix(1, 0)) // wakes Read, which ends the connection
				return
			}
		}
	}
}

func (c *conn) writeOne(data []byte) error {
	if f, ok := c.stdin.(*os.File); ok {
		_ = f.SetWriteDeadline(time.Now().Add(writeBound)) // where pipes have none, Close still ends it
	}
	_, err := c.stdin.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the server has not read its input for %s", writeBound)
	}
	if err != nil {
		return io.EOF // it has gone; its end says more
	}
	return nil
}

// Close implements mcp.Connection: it ends the server and returns when its whole
// tree is gone. A Read under way ends at once.
func (c *conn) Close() error {
	c.ending.Do(func() {
		close(c.closing)
		_ = c.stdout.SetReadDeadline(time.Unix(1, 0))
		c.proc.Stop() // the end of its input, then SIGTERM, then SIGKILL, as the protocol asks for
		<-c.proc.Done()
		_ = c.stdout.Close()
	})
	return nil
}
