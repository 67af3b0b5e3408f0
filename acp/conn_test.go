package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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

func TestEndFailsPendingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		client := startConn(t, a, nil, nil)
		go func() {
			_, _ = b.ReadMessage(context.Background())
			_ = b.Close()
		}()
		if _, err := client.Call(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Call: %v, want ErrClosed", err)
		}
		<-client.Done()
		if err := client.Notify(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Notify: %v, want ErrClosed", err)
		}
	})
}

func TestStdioLines(t *testing.T) {
	in := "\xef\xbb\xbf{\"a\":1}\r\n\r\n  \n{\"b\":2}\n" + `{"big":"` + strings.Repeat("x", 200) + "\"}\n{\"last\":3}"
	s := NewStdio(strings.NewReader(in), io.Discard, 100)
	var got []string
	for {
		msg, err := s.ReadMessage(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(msg))
	}
	want := []string{`{"a":1}`, `{"b":2}`, (&MessageTooLargeError{Limit: 100}).Error(), `{"last":3}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
