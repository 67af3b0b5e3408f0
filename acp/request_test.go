package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// capture is a Handler that hands requests to the test.
type capture struct {
	requests chan *Request
	contexts chan context.Context
}

func newCapture() capture {
	return capture{make(chan *Request, 1), make(chan context.Context, 1)}
}

func (h capture) HandleRequest(ctx context.Context, r *Request) {
	h.contexts <- ctx
	h.requests <- r
}

func (capture) HandleNotification(context.Context, *Notification) {}

func TestRequestIsAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		h := newCapture()
		startConn(t, a, h, nil)
		p := peer{t, b}
		p.send(`{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":1}}`)
		r := <-h.requests
		go func() { _ = r.Reply(1) }()
		p.expect(`{"jsonrpc":"2.0","id":7,"result":1}`)
		for _, err := range []error{r.Reply(2), r.ReplyRaw(jsontext.Value(`3`)), r.Fail(errors.New("4"))} {
			if !errors.Is(err, ErrAnswered) {
				t.Errorf("second answer: %v, want ErrAnswered", err)
			}
		}
		if ctx := <-h.contexts; ctx.Err() != nil {
			t.Errorf("answering ended the context: %v", ctx.Err())
		}
	})
}

func TestRequestFail(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`
	tests := []struct {
		name      string
		cancelled bool
		err       error
		want      string
	}{
		{"coded", false, MethodNotFound("a\"b"), `{"code":-32601,"message":"method not found: a\"b","data":{"method":"a\"b"}}`},
		{"wrapped", false, fmt.Errorf("outer: %w", Errorf(CodeInvalidParams, "cwd is relative")), `{"code":-32602,"message":"cwd is relative"}`},
		{"plain", false, errors.New("disk full"), `{"code":-32603,"message":"disk full"}`},
		{"none", false, nil, `{"code":-32603,"message":"internal error"}`},
		{"our own context", false, context.Canceled, `{"code":-32603,"message":"context canceled"}`},
		{"cancelled by the peer", true, context.Canceled, `{"code":-32800,"message":"Request cancelled"}`},
		{"failed otherwise in spite of it", true, errors.New("disk full"), `{"code":-32603,"message":"disk full"}`},
		{"bad data", false, &Error{Code: 1, Data: jsontext.Value(`{`)}, `{"code":-32603,"message":"internal error: the answer could not be encoded"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := NewPipe()
				h := newCapture()
				startConn(t, a, h, nil)
				p := peer{t, b}
				p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
				r, ctx := <-h.requests, <-h.contexts
				if tt.cancelled {
					p.send(cancel)
					<-ctx.Done()
					var cause *Error
					if !errors.As(context.Cause(ctx), &cause) || cause.Code != CodeRequestCancelled {
						t.Errorf("cause %v, want code %d", context.Cause(ctx), CodeRequestCancelled)
					}
				}
				go func() { _ = r.Fail(tt.err) }()
				p.expect(`{"jsonrpc":"2.0","id":1,"error":` + tt.want + `}`)
			})
		})
	}
}

func TestRequestContextEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		h := newCapture()
		c := startConn(t, a, h, nil)
		peer{t, b}.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		r, ctx := <-h.requests, <-h.contexts
		_ = c.Close()
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, ErrClosed) {
			t.Errorf("cause %v, want ErrClosed", cause)
		}
		if err := r.Reply(nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Reply: %v, want ErrClosed", err)
		}
	})
}

// A panic costs its request only, and the log says where, not what was sent.
func TestPanicsAreContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		a, b := NewPipe()
		c := startConn(t, a, HandlerFuncs{
			Request: func(ctx context.Context, r *Request) {
				if r.Method == "inline" {
					panic(string(r.Params))
				}
				r.Go(ctx, func(context.Context) (any, error) {
					var none []int
					return none[len(r.Params)], nil
				})
			},
			Notification: func(_ context.Context, n *Notification) { panic(string(n.Params)) },
		}, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		p := peer{t, b}
		p.send(`{"jsonrpc":"2.0","method":"note","params":{"key":"sk-secret"}}`)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"inline","params":{"key":"sk-secret"}}`)
		p.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error: the handler of inline crashed"}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"own goroutine","params":{"key":"sk-secret"}}`)
		p.expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"internal error: the handler of own goroutine crashed"}}`)
		_ = c.Close()
		text := string(log.take())
		for _, want := range []string{"a handler panicked", "method=note", "method=inline", "a value of type string", "index out of range", "request_test.go"} {
			if !strings.Contains(text, want) {
				t.Errorf("the log lacks %q", want)
			}
		}
		if strings.Contains(text, "sk-secret") {
			t.Errorf("the log repeats what was sent:\n%s", text)
		}
	})
}

func TestAnsweredIsToldOfEachAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type answer struct {
			method string
			code   ErrorCode
			took   time.Duration
		}
		var got []answer
		a, b := NewPipe()
		h := newCapture()
		startConn(t, a, h, &Options{Answered: func(method string, fault *Error, took time.Duration) {
			e := answer{method: method, took: took}
			if fault != nil {
				e.code = fault.Code
			}
			got = append(got, e)
		}})
		p := peer{t, b}
		p.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		r := <-h.requests
		<-h.contexts
		time.Sleep(3 * time.Second)
		go func() { _ = r.Reply(1) }()
		p.expect(`{"jsonrpc":"2.0","id":1,"result":1}`)
		p.send(`{"jsonrpc":"2.0","id":2,"method":"y"}`)
		r = <-h.requests
		<-h.contexts
		go func() { _ = r.Fail(Errorf(CodeInvalidParams, "no")) }()
		p.expect(`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no"}}`)
		want := []answer{{"x", 0, 3 * time.Second}, {"y", CodeInvalidParams, 0}}
		if !slices.Equal(got, want) {
			t.Errorf("told of %v, want %v", got, want)
		}
	})
}
