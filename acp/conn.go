package acp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Defaults of Options.
const (
	// DefaultMaxMessageBytes lets files and images through in one message.
	DefaultMaxMessageBytes = 64 << 20
	// DefaultMaxQueuedBytes is room for a replay while a handler is slow.
	DefaultMaxQueuedBytes = 64 << 20
)

// handlerGrace is how long Run waits, once the connection is closed, for the
// handler method that is running. A write nobody reads can hold one for ever,
// and must not keep the process from ending.
const handlerGrace = 2 * time.Second

// ErrClosed reports a connection that has ended. Calls that were waiting for
// an answer, and everything written later, fail with it.
var ErrClosed = errors.New("the ACP connection is closed")

// ErrAnswered reports a second answer to the same request.
var ErrAnswered = errors.New("the request was answered already")

// Options are the settings of a Conn. The zero value means the defaults.
type Options struct {
	// MaxMessageBytes refuses longer messages, each by itself, whatever the
	// transport lets through. Zero leaves the limit to the transport, which
	// does not hold in memory what it refuses.
	MaxMessageBytes int64
	// MaxQueuedBytes bounds what is read ahead of the handler. When it is
	// reached, reading stops until the handler catches up; nothing is lost.
	// Zero means DefaultMaxQueuedBytes.
	MaxQueuedBytes int64
	// Malformed, when set, takes what the peer sent that is no JSON-RPC
	// message, in place of the error that would answer it. Hosts set it for
	// agents that print other things on their stdout. It runs in the order of
	// arrival, like a Handler. fault is an *Error or a *MessageTooLargeError.
	// A broken request whose id is known is answered all the same.
	Malformed func(fault error)
	// Answered, when set, is told of each request of the peer's once its answer
	// is about to be written: fault is nil for a result, took the time since the
	// request was read from the inbox. It must not block.
	Answered func(method string, fault *Error, took time.Duration)
	// Logger gets what the peer did wrong, never what it sent.
	// Nil means no logging.
	Logger *slog.Logger
}

// Conn is one side of a JSON-RPC connection that speaks ACP: it can be an
// agent, a client, or both. All methods may be used by any goroutine.
type Conn struct {
	mc       MessageConn
	handler  Handler
	opts     Options
	inbox    *inbox
	encoders encoders
	eof      chan struct{} // closed when the input has ended
	handled  chan struct{} // closed when, after that, all that was read has been handled
	drained  chan struct{} // closed when, after that, all requests are answered
	done     chan struct{} // closed when the connection has ended

	mu    sync.Mutex
	state state // changed only by update
}

// state is everything about a Conn that changes.
type state struct {
	lastID    int64
	calls     map[ID]*Pending // ours, waiting for the peer
	requests  map[ID]*Request // the peer's, waiting for the handler
	answering int             // answers that are being written
	inputDone bool            // everything that was read has been handled
	drained   bool
	closed    bool
	err       error // why it closed, nil for the end of input and for Close
}

// NewConn returns a connection over mc. Nothing is read before Run. A nil
// handler refuses every request as unknown and ignores every notification.
func NewConn(mc MessageConn, h Handler, opts *Options) *Conn {
	c := &Conn{
		mc:      mc,
		handler: h,
		eof:     make(chan struct{}),
		handled: make(chan struct{}),
		drained: make(chan struct{}),
		done:    make(chan struct{}),
		state: state{
			calls:    make(map[ID]*Pending),
			requests: make(map[ID]*Request),
		},
	}
	if h == nil {
		c.handler = HandlerFuncs{}
	}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.MaxQueuedBytes <= 0 {
		c.opts.MaxQueuedBytes = DefaultMaxQueuedBytes
	}
	if c.opts.Logger == nil {
		c.opts.Logger = slog.New(slog.DiscardHandler)
	}
	c.inbox = newInbox(c.opts.MaxQueuedBytes)
	return c
}

// update changes the state with f, and then draws the conclusion that depends
// on all of it: whether the last accepted request has been answered.
func (c *Conn) update(f func(s *state)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.state
	f(s)
	if s.inputDone && !s.drained && len(s.requests) == 0 && s.answering == 0 {
		s.drained = true
		close(c.drained)
	}
}

// Run reads and dispatches messages until the connection ends, and then closes
// it. It must be called once. When the input ends, Run goes on until every
// request that was accepted has been answered; ctx bounds that time. Run
// returns nil after the end of input and after Close, the cause of ctx when
// ctx ended, and the transport's error otherwise.
//
// A read that the operating system cannot interrupt, as on a terminal or a
// plain stdin, is left behind: Run returns without it.
func (c *Conn) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dispatched := make(chan struct{})
	go c.read(ctx)
	go func() {
		defer close(dispatched)
		c.dispatchAll(ctx)
	}()
	select {
	case <-ctx.Done():
		c.end(context.Cause(ctx))
	case <-c.drained:
		c.end(nil)
	case <-c.done:
	}
	cancel()
	select {
	case <-dispatched:
	case <-time.After(handlerGrace):
		c.opts.Logger.Warn("acp: a handler is still running after the connection closed")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.err
}

// Close ends the connection at once: pending calls fail with ErrClosed, the
// contexts of unanswered requests end, Run returns.
func (c *Conn) Close() error {
	c.end(nil)
	return nil
}

// EOF is closed when the input has ended. What was accepted before is still
// being answered then.
func (c *Conn) EOF() <-chan struct{} { return c.eof }

// Handled is closed when the input has ended and the Handler has been given all
// of it, or the connection has ended.
func (c *Conn) Handled() <-chan struct{} { return c.handled }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// end closes the connection for the reason err. Only the first call counts.
func (c *Conn) end(err error) {
	first := false
	var open []*Request
	c.update(func(s *state) {
		if s.closed {
			return
		}
		first, s.closed, s.err = true, true, err
		failCalls(s, closedError(err))
		for _, r := range s.requests {
			open = append(open, r)
		}
	})
	if !first {
		return
	}
	close(c.done)
	for _, r := range open {
		r.cancel(closedError(err))
	}
	c.inbox.abort()
	if err := c.mc.Close(); err != nil {
		c.opts.Logger.Debug("acp: closing the transport failed", "error", err)
	}
}

// failCalls ends every call that waits for an answer.
func failCalls(s *state, err error) {
	for id, p := range s.calls {
		p.settle(response{err: err})
		delete(s.calls, id)
	}
}

// closedError is ErrClosed with its cause.
func closedError(cause error) error {
	if cause == nil {
		return ErrClosed
	}
	return fmt.Errorf("%w: %w", ErrClosed, cause)
}

// read takes messages off the transport until it ends. It never waits for a
// handler, only, when the inbox is full, for room.
func (c *Conn) read(ctx context.Context) {
	defer close(c.eof)
	var p parser
	for {
		m, err := c.next(ctx, &p)
		switch {
		case err == nil:
			if !c.inbox.put(m) {
				return
			}
		case err == io.EOF:
			c.inbox.end()
			return
		case ctx.Err() != nil:
			return
		default:
			c.end(fmt.Errorf("cannot read from the peer: %w", err))
			return
		}
	}
}

// next reads and parses one message.
func (c *Conn) next(ctx context.Context, p *parser) (message, error) {
	raw, err := c.mc.ReadMessage(ctx)
	if err == nil {
		limit := c.opts.MaxMessageBytes
		if limit <= 0 || int64(len(raw)) <= limit {
			return p.parse(raw), nil
		}
		err = &MessageTooLargeError{Limit: limit, Head: bytes.Clone(raw[:min(len(raw), headBytes)])}
	}
	var tooLarge *MessageTooLargeError
	if errors.As(err, &tooLarge) {
		return p.truncated(tooLarge), nil
	}
	return message{}, err
}

// write sends one encoded message.
func (c *Conn) write(ctx context.Context, msg jsontext.Value) error {
	return c.writing(ctx, func() error { return c.mc.WriteMessage(ctx, msg) })
}

// writing does a write on the transport. A failed one ends the connection,
// unless it failed before anything was sent.
func (c *Conn) writing(ctx context.Context, write func() error) error {
	select {
	case <-c.done:
		return c.closedError()
	default:
	}
	err := write()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || errors.Is(err, ErrInvalidMessage):
		return err
	}
	c.end(fmt.Errorf("cannot write to the peer: %w", err))
	return c.closedError()
}

// closedError says why the connection, which is closed, was closed.
func (c *Conn) closedError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return closedError(c.state.err)
}

// Notify sends a notification. params is marshalled to JSON; nil leaves them
// out, and a jsontext.Value goes out as it is. It blocks while the peer is
// slow; when it returns, the message precedes everything sent later.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	e := c.encoders.get()
	defer c.encoders.put(e)
	msg, err := e.call(ID{}, method, params)
	if err != nil {
		return err
	}
	return c.write(ctx, msg)
}

// WriteRaw sends messages that are encoded already, in order: with one write
// where the transport is a BatchWriter. They are not validated; a relay that
// splices bytes uses it.
func (c *Conn) WriteRaw(ctx context.Context, msgs ...jsontext.Value) error {
	if batch, ok := c.mc.(BatchWriter); ok {
		return c.writing(ctx, func() error { return batch.WriteMessages(ctx, msgs) })
	}
	for _, msg := range msgs {
		if err := c.write(ctx, msg); err != nil {
			return err
		}
	}
	return nil
}
