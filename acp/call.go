package acp

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// methodCancelRequest is the notification that cancels a request of the sender.
const methodCancelRequest = "$/cancel_request"

// cancelGrace is how long a cancelled call waits for its $/cancel_request to
// be written. It keeps the order with what the caller sends next, and does not
// hold the caller when the peer has stopped reading.
const cancelGrace = 200 * time.Millisecond

// response is how a call of ours ends.
type response struct {
	result jsontext.Value
	err    error
}

// cancelParams are the params of $/cancel_request.
type cancelParams struct {
	RequestID jsontext.Value `json:"requestId"`
}

// Call sends a request and waits for the answer. params is as for Notify. An
// error of the peer comes back as an *Error. When ctx ends first, the peer is
// told by $/cancel_request, its late answer is dropped, and Call returns the
// error of ctx. When the connection ends first, Call returns ErrClosed.
//
// A Handler method must not wait for a Call on its own connection: it holds up
// the answer. It may from a goroutine of its own.
func (c *Conn) Call(ctx context.Context, method string, params any) (jsontext.Value, error) {
	return c.call(ctx, ID{}, method, params)
}

// CallID is Call with an id of the caller's choice. It fails if a request with
// that id is still waiting for its answer.
func (c *Conn) CallID(ctx context.Context, id ID, method string, params any) (jsontext.Value, error) {
	if !id.IsValid() {
		return nil, fmt.Errorf("cannot call %s: the request id is empty", method)
	}
	return c.call(ctx, id, method, params)
}

func (c *Conn) call(ctx context.Context, id ID, method string, params any) (jsontext.Value, error) {
	p, err := c.Go(ctx, id, method, params)
	if err != nil {
		return nil, err
	}
	return p.Wait(ctx)
}

// Pending is a request of ours that has been written and waits for its answer.
type Pending struct {
	conn     *Conn
	id       ID
	answered chan struct{}
	response // valid once answered is closed
}

// Go writes a request and returns at once, so that it keeps its place among
// what the caller writes before and after it. The zero ID means a fresh one.
// One Wait must follow.
func (c *Conn) Go(ctx context.Context, id ID, method string, params any) (*Pending, error) {
	p, err := c.expect(id)
	if err != nil {
		return nil, fmt.Errorf("cannot call %s: %w", method, err)
	}
	e := c.encoders.get()
	msg, err := e.call(p.id, method, params)
	if err == nil {
		err = c.write(ctx, msg)
	}
	c.encoders.put(e)
	if err != nil {
		p.forget()
		return nil, err
	}
	return p, nil
}

// Answered is closed when the answer is there, and before any message that came
// after it is handled: a relay that looks at it from its Handler keeps answers
// in their place. It stays open when Wait gave up.
func (p *Pending) Answered() <-chan struct{} { return p.answered }

// Wait returns the answer, as Call does.
func (p *Pending) Wait(ctx context.Context) (jsontext.Value, error) {
	select {
	case <-p.answered:
		return p.result, p.err
	case <-ctx.Done():
		if p.forget() {
			p.conn.cancelPeer(p.id)
		}
		return nil, ctx.Err()
	}
}

// settle gives the call its answer, once.
func (p *Pending) settle(r response) {
	p.response = r
	close(p.answered)
}

// expect registers a call; the zero ID means a fresh one.
func (c *Conn) expect(id ID) (*Pending, error) {
	p := &Pending{conn: c, id: id, answered: make(chan struct{})}
	var err error
	c.update(func(s *state) {
		if s.closed || s.inputDone {
			err = closedError(s.err)
			return
		}
		for !p.id.IsValid() {
			s.lastID++
			if _, taken := s.calls[IntID(s.lastID)]; !taken {
				p.id = IntID(s.lastID)
			}
		}
		if _, taken := s.calls[p.id.key()]; taken {
			err = fmt.Errorf("request %s is still waiting for its answer", p.id)
			return
		}
		s.calls[p.id.key()] = p
	})
	return p, err
}

// forget drops the call and reports whether it was still waiting.
func (p *Pending) forget() bool {
	waiting := false
	p.conn.update(func(s *state) {
		if waiting = s.calls[p.id.key()] == p; waiting {
			delete(s.calls, p.id.key())
		}
	})
	return waiting
}

// cancelPeer tells the peer that nobody waits for its answer any more.
func (c *Conn) cancelPeer(id ID) {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if err := c.Notify(context.Background(), methodCancelRequest, cancelParams{id.Raw()}); err != nil {
			c.opts.Logger.Debug("acp: cancelling a request failed", "error", err)
		}
	}()
	select {
	case <-sent:
	case <-time.After(cancelGrace):
	}
}

// settleBare takes a message that has an id and nothing else for a response,
// if a call waits for it: a peer whose result is undefined writes none.
func (c *Conn) settleBare(ctx context.Context, m message) {
	if !c.settle(message{id: m.id, result: jsontext.Value("null")}) {
		m.id = ID{}
		c.refuse(ctx, m)
	}
}

// settle gives a response to the call that waits for it, and reports whether
// there is one. Others are late or unknown.
func (c *Conn) settle(m message) bool {
	r := response{result: m.result, err: m.fault}
	if r.err == nil && m.failed != nil {
		r = response{err: decodeError(m.failed)}
	}
	known := false
	c.update(func(s *state) {
		var p *Pending
		if p, known = s.calls[m.id.key()]; known {
			p.settle(r)
			delete(s.calls, m.id.key())
		}
	})
	return known
}

// decodeError reads the error object of a response, taking from a broken one
// what is usable.
func decodeError(v jsontext.Value) *Error {
	var lenient struct {
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	e := &Error{Code: CodeInternalError}
	// v is a valid object and raw members take anything: this cannot fail.
	_ = json.Unmarshal(v, &lenient)
	if json.Unmarshal(lenient.Code, &e.Code) != nil {
		e.Code = CodeInternalError
	}
	if json.Unmarshal(lenient.Message, &e.Message) != nil {
		e.Message = "the peer gave no reason"
	}
	e.Data = lenient.Data
	return e
}
