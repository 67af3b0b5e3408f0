package acp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Request is a call of the peer that wants one answer. Exactly one of Reply,
// ReplyRaw and Fail must be called, from any goroutine; Go does it itself.
type Request struct {
	Method string
	Params jsontext.Value // nil when absent or null
	ID     ID

	conn      *Conn
	begun     time.Time // zero unless Options.Answered wants to know
	answered  atomic.Bool
	cancelled atomic.Bool             // by the peer's $/cancel_request
	cancel    context.CancelCauseFunc // ends the handler's context
}

// Reply answers with a result, which is marshalled to JSON; nil is sent as {}.
// When it returns, the answer precedes everything sent later. A result that
// cannot be encoded becomes an internal error, so that the peer is not left
// waiting. A second answer returns ErrAnswered and sends nothing.
func (r *Request) Reply(result any) error {
	return r.answer(nil, func(e *encoder) (jsontext.Value, error) { return e.result(r.ID, result) })
}

// ReplyRaw answers with a result that is JSON already. It is not validated.
func (r *Request) ReplyRaw(result jsontext.Value) error { return r.Reply(result) }

// Fail answers with an error. An *Error in the chain of err keeps its code and
// data; context.Canceled after the peer's own $/cancel_request becomes
// CodeRequestCancelled; every other err is CodeInternalError with its text.
func (r *Request) Fail(err error) error {
	fault := asError(err)
	if errors.Is(err, context.Canceled) && r.cancelled.Load() {
		fault = errCancelled
	}
	return r.answer(fault, func(e *encoder) (jsontext.Value, error) { return e.failure(r.ID, fault) })
}

// Go runs f on a goroutine of its own and answers with what it returns. A
// panic in f becomes an internal error.
func (r *Request) Go(ctx context.Context, f func(ctx context.Context) (any, error)) {
	go func() {
		defer r.rescue()
		result, err := f(ctx)
		if err != nil {
			err = r.Fail(err)
		} else {
			err = r.Reply(result)
		}
		if err != nil {
			r.conn.opts.Logger.Debug("acp: an answer was not sent", "method", r.Method, "error", err)
		}
	}()
}

// rescue, deferred, turns a panic into an internal error. What was passed to
// panic stays out of the log, since it may hold what the peer sent; runtime
// errors do not.
func (r *Request) rescue() {
	if p := recover(); p != nil {
		r.conn.logPanic(r.Method, p)
		_ = r.Fail(Errorf(CodeInternalError, "internal error: the handler of %s crashed", r.Method))
	}
}

// logPanic logs where a handler crashed.
func (c *Conn) logPanic(method string, p any) {
	what := fmt.Sprintf("a value of type %T", p)
	if err, ok := p.(runtime.Error); ok {
		what = err.Error()
	}
	c.opts.Logger.Error("acp: a handler panicked", "method", method, "panic", what, "stack", string(debug.Stack()))
}

// answer encodes and sends the one answer of r; fault is nil for a result.
func (r *Request) answer(fault *Error, encode func(*encoder) (jsontext.Value, error)) error {
	if r.answered.Swap(true) {
		return ErrAnswered
	}
	c := r.conn
	// The id is free again before the answer leaves: the peer may reuse it as
	// soon as it has the answer.
	c.update(func(s *state) {
		delete(s.requests, r.ID.key())
		s.answering++
	})
	defer c.update(func(s *state) { s.answering-- })
	e := c.encoders.get()
	defer c.encoders.put(e)
	msg, err := encode(e)
	if err != nil {
		e.buf.Reset()
		fault = Errorf(CodeInternalError, "internal error: the answer could not be encoded")
		msg, _ = e.failure(r.ID, fault)
	}
	if c.opts.Answered != nil {
		c.opts.Answered(r.Method, fault, time.Since(r.begun))
	}
	return errors.Join(err, c.write(context.Background(), msg))
}

// asError finds the *Error in err, or makes one of its text.
func asError(err error) *Error {
	var fault *Error
	switch {
	case errors.As(err, &fault):
		return fault
	case err == nil:
		return &Error{Code: CodeInternalError, Message: "internal error"}
	default:
		return &Error{Code: CodeInternalError, Message: err.Error()}
	}
}

// MethodNotFound is the error for a method the receiver does not have. Its
// data names the method.
func MethodNotFound(method string) *Error {
	e := Errorf(CodeMethodNotFound, "method not found: %s", method)
	name, _ := jsontext.AppendQuote(nil, method)
	e.Data = jsontext.Value(`{"method":` + string(name) + `}`)
	return e
}

// HandlerFuncs is a Handler of two functions. A nil Request answers that the
// method is unknown, a nil Notification ignores.
type HandlerFuncs struct {
	Request      func(ctx context.Context, req *Request)
	Notification func(ctx context.Context, n *Notification)
}

// HandleRequest implements Handler.
func (h HandlerFuncs) HandleRequest(ctx context.Context, req *Request) {
	if h.Request == nil {
		_ = req.Fail(MethodNotFound(req.Method))
		return
	}
	h.Request(ctx, req)
}

// HandleNotification implements Handler.
func (h HandlerFuncs) HandleNotification(ctx context.Context, n *Notification) {
	if h.Notification != nil {
		h.Notification(ctx, n)
	}
}
