package acp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// startConn runs a connection over mc until the test ends.
func startConn(t testing.TB, mc MessageConn, h Handler, opts *Options) *Conn {
	t.Helper()
	c := NewConn(mc, h, opts)
	ran := make(chan error, 1)
	go func() { ran <- c.Run(context.Background()) }()
	t.Cleanup(func() {
		c.Close()
		if err := <-ran; err != nil && !errors.Is(err, ErrClosed) {
			t.Logf("Run: %v", err)
		}
	})
	return c
}

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		client := startConn(t, a, nil, nil)
		startConn(t, b, HandlerFuncs{Request: func(_ context.Context, r *Request) {
			switch r.Method {
			case "nothing":
				_ = r.Reply(nil)
			case "typed":
				_ = r.Reply(struct {
					A int `json:"a"`
				}{7})
			case "null":
				_ = r.Reply((*struct{})(nil))
			case "fail":
				_ = r.Fail(fmt.Errorf("outer: %w", &Error{Code: -32002, Message: "gone", Data: jsontext.Value(`{"sessionId":"s"}`)}))
			case "plain":
				_ = r.Fail(errors.New("disk on fire"))
			case "unencodable":
				if err := r.Reply(make(chan int)); err == nil {
					t.Error("Reply of a channel returned nil")
				}
			case "crash":
				panic("boom")
			default:
				HandlerFuncs{}.HandleRequest(t.Context(), r)
			}
		}}, nil)
		tests := []struct{ method, result, failed string }{
			{"nothing", `{}`, ""},
			{"typed", `{"a":7}`, ""},
			{"null", `{}`, ""},
			{"fail", "", `-32002 gone {"sessionId":"s"}`},
			{"plain", "", `-32603 disk on fire `},
			{"unencodable", "", `-32603 internal error: the answer could not be encoded `},
			{"crash", "", `-32603 internal error: the handler of crash crashed `},
			{"_x/y", "", `-32601 method not found: _x/y {"method":"_x/y"}`},
		}
		for _, tt := range tests {
			result, err := client.Call(t.Context(), tt.method, nil)
			failed := ""
			var fault *Error
			if errors.As(err, &fault) {
				failed = fmt.Sprintf("%d %s %s", fault.Code, fault.Message, []byte(fault.Data))
			} else if err != nil {
				t.Errorf("%s: %v", tt.method, err)
			}
			if string(result) != tt.result || failed != tt.failed {
				t.Errorf("%s: got %s, %q; want %s, %q", tt.method, result, failed, tt.result, tt.failed)
			}
		}
	})
}

// X5: 200 notifications and the answer, with a slow first handler.
func TestX5ResponseAfterNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		var got []string
		client := startConn(t, a, HandlerFuncs{Notification: func(_ context.Context, n *Notification) {
			if len(got) == 0 {
				time.Sleep(300 * time.Millisecond)
			}
			got = append(got, string(n.Params))
		}}, nil)
		var want []string
		startConn(t, b, HandlerFuncs{Request: func(ctx context.Context, r *Request) {
			for i := range 200 {
				want = append(want, fmt.Sprintf(`{"n":%d}`, i))
				_ = r.conn.Notify(ctx, "session/update", map[string]int{"n": i})
			}
			_ = r.Reply(nil)
		}}, nil)
		if _, err := client.Call(t.Context(), "session/prompt", nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("notifications handled before Call returned (-want +got):\n%s", diff)
		}
	})
}

func TestRunDrainsAfterEOF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := strings.NewReader(`{"jsonrpc":"2.0","id":"a","method":"slow"}`)
		var out strings.Builder
		c := NewConn(NewStdio(in, &out, 0), HandlerFuncs{Request: func(ctx context.Context, r *Request) {
			r.Go(ctx, func(ctx context.Context) (any, error) {
				time.Sleep(time.Minute)
				return "late", nil
			})
		}}, nil)
		start := time.Now()
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("Run took %v, want the minute of the handler", got)
		}
		if want := "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":\"late\"}\n"; out.String() != want {
			t.Errorf("wrote %q, want %q", out.String(), want)
		}
	})
}

func TestRunReturnsTheCauseOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := NewPipe()
		c := NewConn(a, nil, nil)
		why := errors.New("time to go")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if err := c.Run(ctx); !errors.Is(err, why) {
			t.Errorf("Run: %v, want %v", err, why)
		}
		<-c.Done()
		<-c.EOF()
	})
}

// A read that cannot be interrupted, as on a terminal, must not hold Run.
func TestCloseDoesNotWaitForTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer w.Close() // lets the reader go, after all
		c := NewConn(NewStdio(struct{ io.Reader }{r}, io.Discard, 0), nil, nil)
		ran := make(chan error, 1)
		go func() { ran <- c.Run(t.Context()) }()
		synctest.Wait()
		start := time.Now()
		_ = c.Close()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Run returned %v after Close", waited)
		}
	})
}

// A handler stuck in a write that nobody reads must not hold Run for ever.
func TestRunAbandonsAStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		in := strings.NewReader(`{"jsonrpc":"2.0","method":"x"}`)
		c := NewConn(NewStdio(in, io.Discard, 0), HandlerFuncs{
			Notification: func(context.Context, *Notification) { <-stuck },
		}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := c.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Run: %v, want context.DeadlineExceeded", err)
		}
		if waited := time.Since(start); waited != time.Minute+handlerGrace {
			t.Errorf("Run took %v, want its minute and the grace of %v", waited, handlerGrace)
		}
		close(stuck)
	})
}

// L14: a nil handler is polite.
func TestL14NilHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		startConn(t, a, nil, nil)
		p := peer{t, b}
		p.send(`{"jsonrpc":"2.0","method":"_x/y"}`)
		p.send(`{"jsonrpc":"2.0","id":1,"method":"_x/y"}`)
		p.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: _x/y","data":{"method":"_x/y"}}}`)
	})
}

// F3: a host takes note of what is not the protocol, and answers none of it.
func TestF3MalformedHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		var got []string
		startConn(t, a, nil, &Options{
			MaxMessageBytes: 100,
			Malformed:       func(fault error) { got = append(got, fault.Error()) },
		})
		p := peer{t, b}
		for _, msg := range []string{`{"level":"info"}`, `{"a":`, `[1]`, `{"a":"` + strings.Repeat("x", 100) + `"}`} {
			p.send(msg)
		}
		p.send(`{"id":"r","method":"x"}`)
		p.expect(`{"jsonrpc":"2.0","id":"r","error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}}`)
		want := []string{
			"not a JSON-RPC message: it has no method, result or error (-32600)",
			"Parse error: the message ends early, at byte 5 (-32700)",
			"JSON-RPC batches are not supported (-32600)",
			"message is longer than the limit of 100 bytes (acp.max_message_bytes)",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// X6: a burst stops the writer once the queue is full, and loses nothing.
func TestX6Backpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 10
		msg := fmt.Sprintf(`{"jsonrpc":"2.0","method":"x","params":{"pad":%q}}`, strings.Repeat("x", 1000))
		a, b := NewPipe()
		handled, resume := 0, make(chan struct{})
		startConn(t, a, HandlerFuncs{Notification: func(context.Context, *Notification) {
			<-resume
			handled++
		}}, &Options{MaxQueuedBytes: room * int64(len(msg)+messageOverhead)})
		sent := 0
		go func() {
			for range 1000 {
				if b.WriteMessage(t.Context(), jsontext.Value(msg)) != nil {
					return
				}
				sent++
			}
		}()
		synctest.Wait()
		if sent != room+1 { // what is queued or being handled, and the one the reader holds
			t.Errorf("%d messages were read ahead of the handler, want %d", sent, room+1)
		}
		close(resume)
		synctest.Wait()
		if handled != 1000 {
			t.Errorf("%d of 1000 messages were handled", handled)
		}
	})
}

// A message larger than the whole queue still passes.
func TestQueueTakesOneMessageOfAnySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		startConn(t, a, HandlerFuncs{Request: func(_ context.Context, r *Request) { _ = r.Reply(len(r.Params)) }},
			&Options{MaxQueuedBytes: 1})
		p := peer{t, b}
		for range 3 {
			p.send(`{"jsonrpc":"2.0","id":1,"method":"x","params":"` + strings.Repeat("x", 998) + `"}`)
			p.expect(`{"jsonrpc":"2.0","id":1,"result":1000}`)
		}
	})
}

// X6: 100,000 updates against a handler that is slower than the writer, over
// real pipes: all arrive, in order, in bounded memory.
func TestX6Burst(t *testing.T) {
	const n, queue = 100_000, 1 << 20
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		w := bufio.NewWriterSize(out, readAhead)
		text := strings.Repeat("x", 300)
		for i := range n {
			fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":[%d,\"%s\"]}\n", i, text)
		}
		w.Flush()
		out.Close()
	}()
	var stats runtime.MemStats
	next, peak := 0, uint64(0)
	c := NewConn(NewStdio(in, io.Discard, 0), HandlerFuncs{Notification: func(_ context.Context, m *Notification) {
		if want := fmt.Sprintf("[%d,", next); !strings.HasPrefix(string(m.Params), want) {
			t.Errorf("got %.12s, want %s", m.Params, want)
		}
		next++
		if next%10_000 == 0 { // the slow part
			runtime.GC()
			runtime.ReadMemStats(&stats)
			peak = max(peak, stats.HeapAlloc)
		}
	}}, &Options{MaxQueuedBytes: queue})
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if next != n {
		t.Errorf("%d of %d notifications arrived", next, n)
	}
	if peak > 32*queue {
		t.Errorf("the heap grew to %d MiB with a queue of %d MiB", peak>>20, queue>>20)
	}
}

// Both sides call each other at once, over real pipes; nothing is mixed up.
func TestCallsInBothDirections(t *testing.T) {
	nearIn, farOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	farIn, nearOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	echo := HandlerFuncs{Request: func(ctx context.Context, r *Request) {
		r.Go(ctx, func(context.Context) (any, error) { return r.Params, nil })
	}}
	near := startConn(t, NewStdio(nearIn, nearOut, 0), echo, nil)
	far := startConn(t, NewStdio(farIn, farOut, 0), echo, nil)
	var wg sync.WaitGroup
	for side, c := range []*Conn{near, far} {
		for worker := range 8 {
			wg.Go(func() {
				for i := range 100 {
					want := fmt.Sprintf("[%d,%d,%d]", side, worker, i)
					got, err := c.Call(t.Context(), "echo", jsontext.Value(want))
					if err != nil || string(got) != want {
						t.Errorf("got %s, %v; want %s", got, err, want)
					}
				}
			})
		}
	}
	wg.Wait()
}
