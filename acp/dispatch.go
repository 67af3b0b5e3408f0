package acp

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errCancelled is the cause of a request's context after $/cancel_request, and
// a fit answer as well.
var errCancelled = &Error{Code: CodeRequestCancelled, Message: "Request cancelled"}

// dispatchAll handles messages in the order of their arrival until the input
// has ended. Calls that got no answer by then never will.
func (c *Conn) dispatchAll(ctx context.Context) {
	for {
		m, ok := c.inbox.take()
		if !ok {
			break
		}
		c.dispatch(ctx, m)
		c.inbox.handled(m)
	}
	c.update(func(s *state) {
		s.inputDone = true
		failCalls(s, closedError(s.err))
	})
	close(c.handled)
}

func (c *Conn) dispatch(ctx context.Context, m message) {
	switch m.kind {
	case kindRequest:
		c.dispatchRequest(ctx, m)
	case kindNotification:
		c.dispatchNotification(ctx, m)
	case kindResponse:
		if !c.settle(m) {
			c.opts.Logger.Debug("acp: dropped a response nobody waits for")
		}
	case kindBare:
		c.settleBare(ctx, m)
	case kindInvalid:
		c.refuse(ctx, m)
	case kindIgnored:
		c.opts.Logger.Debug("acp: dropped a message without a valid envelope")
	}
}

// dispatchRequest accepts a request and hands it to the handler. Its context
// is not cancelled by answering, so that work that follows the answer may use
// it; only a request that is still open ends with the connection.
func (c *Conn) dispatchRequest(ctx context.Context, m message) {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &Request{Method: m.method, Params: m.params, ID: m.id, conn: c, cancel: cancel}
	if c.opts.Answered != nil {
		r.begun = time.Now()
	}
	duplicate, closed := false, false
	c.update(func(s *state) {
		if closed = s.closed; closed {
			return
		}
		if _, duplicate = s.requests[m.id.key()]; !duplicate {
			s.requests[m.id.key()] = r
		}
	})
	switch {
	case closed:
		cancel(ErrClosed)
	case duplicate:
		cancel(nil)
		m.fault = Errorf(CodeInvalidRequest, "a request with this id is still waiting for its answer")
		c.refuse(ctx, m)
	default:
		defer r.rescue()
		c.handler.HandleRequest(own, r)
	}
}

func (c *Conn) dispatchNotification(ctx context.Context, m message) {
	if m.method == methodCancelRequest {
		c.cancelRequest(m.params)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.logPanic(m.method, p)
		}
	}()
	c.handler.HandleNotification(ctx, &Notification{Method: m.method, Params: m.params})
}

// cancelRequest ends the context of a request the peer has given up. Unknown
// ids and unreadable params are ignored.
func (c *Conn) cancelRequest(params jsontext.Value) {
	var p cancelParams
	if err := json.Unmarshal(params, &p); err != nil {
		c.opts.Logger.Debug("acp: ignored a cancellation without a request id")
		return
	}
	id, err := ParseID(p.RequestID)
	if err != nil {
		c.opts.Logger.Debug("acp: ignored a cancellation without a request id")
		return
	}
	var r *Request
	c.update(func(s *state) { r = s.requests[id.key()] })
	if r != nil {
		r.cancelled.Store(true)
		r.cancel(errCancelled)
	}
}

// refuse answers a message that is no valid request.
func (c *Conn) refuse(ctx context.Context, m message) {
	if c.opts.Malformed != nil && !m.id.IsValid() {
		c.opts.Malformed(m.fault)
		return
	}
	var fault *Error
	if !errors.As(m.fault, &fault) {
		fault = Errorf(CodeInvalidRequest, "%v", m.fault)
	}
	c.opts.Logger.Debug("acp: refused a message", "code", int(fault.Code), "bytes", m.size)
	e := c.encoders.get()
	defer c.encoders.put(e)
	msg, err := e.failure(m.id, fault)
	if err == nil {
		err = c.write(ctx, msg)
	}
	if err != nil {
		c.opts.Logger.Debug("acp: an answer was not sent", "error", err)
	}
}
