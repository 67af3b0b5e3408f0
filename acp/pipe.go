package acp

import (
	"context"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// pipeEnd is one end of an in-memory connection.
type pipeEnd struct {
	in, out chan jsontext.Value
	close   func()
	closed  <-chan struct{} // this end was closed
	gone    <-chan struct{} // the other end was closed
}

// NewPipe returns the two ends of a connection in memory. A write waits until
// the other end reads it, so backpressure is immediate. It starts no goroutine
// and uses no timer; it can be used in a testing/synctest bubble.
func NewPipe() (MessageConn, MessageConn) {
	ab, ba := make(chan jsontext.Value), make(chan jsontext.Value)
	a, b := make(chan struct{}), make(chan struct{})
	closer := func(c chan struct{}) func() { return sync.OnceFunc(func() { close(c) }) }
	return &pipeEnd{in: ba, out: ab, close: closer(a), closed: a, gone: b},
		&pipeEnd{in: ab, out: ba, close: closer(b), closed: b, gone: a}
}

// ReadMessage implements MessageConn.
func (p *pipeEnd) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	select {
	case <-p.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case msg := <-p.in:
		return msg, nil
	case <-p.gone:
		return nil, io.EOF
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// WriteMessage implements MessageConn.
func (p *pipeEnd) WriteMessage(ctx context.Context, msg jsontext.Value) error {
	select {
	case <-p.closed:
		return ErrClosed
	case <-p.gone:
		return io.ErrClosedPipe
	default:
	}
	select {
	case p.out <- msg.Clone():
		return nil
	case <-p.gone:
		return io.ErrClosedPipe
	case <-p.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements MessageConn.
func (p *pipeEnd) Close() error {
	p.close()
	return nil
}
