package acp

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// peer plays the other end of a pipe by hand.
type peer struct {
	t  *testing.T
	mc MessageConn
}

func (p peer) expect(want string) {
	p.t.Helper()
	got, err := p.mc.ReadMessage(p.t.Context())
	if err != nil {
		p.t.Fatalf("reading %s: %v", want, err)
	}
	if string(got) != want {
		p.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func (p peer) send(msg string) {
	p.t.Helper()
	if err := p.mc.WriteMessage(p.t.Context(), jsontext.Value(msg)); err != nil {
		p.t.Fatalf("sending %s: %v", msg, err)
	}
}

// outcome is how a Call ended.
type outcome struct {
	result string
	err    error
}

// goCall calls on a goroutine of its own.
func goCall(f func() (jsontext.Value, error)) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		result, err := f()
		done <- outcome{string(result), err}
	}()
	return done
}

func TestCallCancelledByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		c, p := startConn(t, a, nil, nil), peer{t, b}
		ctx, cancel := context.WithCancel(t.Context())
		first := goCall(func() (jsontext.Value, error) { return c.Call(ctx, "slow", nil) })
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		cancel()
		p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		if got := <-first; !errors.Is(got.err, context.Canceled) {
			t.Errorf("Call: %v, want context.Canceled", got.err)
		}
		p.send(`{"jsonrpc":"2.0","id":1,"result":"late"}`)
		second := goCall(func() (jsontext.Value, error) { return c.Call(t.Context(), "next", []int{1}) })
		p.expect(`{"jsonrpc":"2.0","id":2,"method":"next","params":[1]}`)
		p.send(`{"jsonrpc":"2.0","id":2,"result":"in time"}`)
		if got := <-second; got.err != nil || got.result != `"in time"` {
			t.Errorf("Call after a cancelled one: %v", got)
		}
	})
}

// A cancelled call returns although the peer has stopped reading.
func TestCallCancelledWhilePeerIsStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		c, p := startConn(t, a, nil, nil), peer{t, b}
		ctx, cancel := context.WithCancel(t.Context())
		call := goCall(func() (jsontext.Value, error) { return c.Call(ctx, "slow", nil) })
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		start := time.Now()
		cancel()
		if got := <-call; !errors.Is(got.err, context.Canceled) {
			t.Errorf("Call: %v, want context.Canceled", got.err)
		}
		if waited := time.Since(start); waited != cancelGrace {
			t.Errorf("Call returned after %v, want %v", waited, cancelGrace)
		}
	})
}

func TestCallNeverSentIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		c, p := startConn(t, a, nil, nil), peer{t, b}
		ctx, cancel := context.WithCancel(t.Context())
		call := goCall(func() (jsontext.Value, error) { return c.Call(ctx, "unsent", nil) })
		synctest.Wait()
		cancel()
		if got := <-call; !errors.Is(got.err, context.Canceled) {
			t.Errorf("Call: %v, want context.Canceled", got.err)
		}
		next := goCall(func() (jsontext.Value, error) { return nil, c.Notify(t.Context(), "next", nil) })
		p.expect(`{"jsonrpc":"2.0","method":"next"}`)
		<-next
	})
}

func TestCallID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		c, p := startConn(t, a, nil, nil), peer{t, b}
		id := StringID("gp-out-ü/1")
		named := goCall(func() (jsontext.Value, error) { return c.CallID(t.Context(), id, "ask", nil) })
		p.expect(`{"jsonrpc":"2.0","id":"gp-out-ü/1","method":"ask"}`)
		if _, err := c.CallID(t.Context(), id, "ask", nil); err == nil {
			t.Error("CallID with an id in use succeeded")
		}
		if _, err := c.CallID(t.Context(), ID{}, "ask", nil); err == nil {
			t.Error("CallID without an id succeeded")
		}
		one := goCall(func() (jsontext.Value, error) { return c.CallID(t.Context(), IntID(1), "one", nil) })
		p.expect(`{"jsonrpc":"2.0","id":1,"method":"one"}`)
		two := goCall(func() (jsontext.Value, error) { return c.Call(t.Context(), "two", nil) })
		p.expect(`{"jsonrpc":"2.0","id":2,"method":"two"}`)
		p.send(`{"jsonrpc":"2.0","id":"gp-out-\u00fc\/1","result":{"escaped":"by the peer"}}`)
		p.send(`{"jsonrpc":"2.0","id":2,"result":2}`)
		p.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
		want := []string{`{"escaped":"by the peer"}`, `1`, `2`}
		got := []string{(<-named).result, (<-one).result, (<-two).result}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
	})
}

func TestCallFailsWhenTheConnectionEnds(t *testing.T) {
	tests := []struct {
		name string
		end  func(c *Conn, peer MessageConn)
	}{
		{"peer closes", func(_ *Conn, peer MessageConn) { _ = peer.Close() }},
		{"we close", func(c *Conn, _ MessageConn) { _ = c.Close() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := NewPipe()
				c := startConn(t, a, nil, nil)
				call := goCall(func() (jsontext.Value, error) { return c.Call(t.Context(), "x", nil) })
				peer{t, b}.expect(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
				tt.end(c, b)
				if got := <-call; !errors.Is(got.err, ErrClosed) {
					t.Errorf("pending Call: %v, want ErrClosed", got.err)
				}
				<-c.Done()
				if _, err := c.Call(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
					t.Errorf("Call: %v, want ErrClosed", err)
				}
				if err := c.Notify(t.Context(), "x", nil); !errors.Is(err, ErrClosed) {
					t.Errorf("Notify: %v, want ErrClosed", err)
				}
			})
		})
	}
}

func TestCallReportsTheTransportError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := io.Pipe() // nothing arrives
		broken := errors.New("pipe burst")
		c := NewConn(NewStdio(r, &writes{err: broken}, 0), nil, nil)
		ran := make(chan error, 1)
		go func() { ran <- c.Run(t.Context()) }()
		if _, err := c.Call(t.Context(), "x", nil); !errors.Is(err, ErrClosed) || !errors.Is(err, broken) {
			t.Errorf("Call: %v, want ErrClosed because of %v", err, broken)
		}
		if err := <-ran; !errors.Is(err, broken) {
			t.Errorf("Run: %v, want %v", err, broken)
		}
	})
}

func TestUnencodableParamsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := NewPipe()
		c, p := startConn(t, a, nil, nil), peer{t, b}
		if _, err := c.Call(t.Context(), "x", make(chan int)); err == nil {
			t.Error("Call with a channel as params succeeded")
		}
		if err := c.Notify(t.Context(), "x", make(chan int)); err == nil {
			t.Error("Notify with a channel as params succeeded")
		}
		sent := goCall(func() (jsontext.Value, error) { return nil, c.Notify(t.Context(), "x", "bad \xff byte") })
		p.expect("{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"bad \ufffd byte\"}")
		<-sent
	})
}

// A relay sees from its handler which answers came before what it handles.
func TestAnsweredBeforeWhatFollows(t *testing.T) {
	a, b := NewPipe()
	var call *Pending
	seen := make(chan bool, 2)
	c := startConn(t, a, HandlerFuncs{Notification: func(context.Context, *Notification) {
		select {
		case <-call.Answered():
			seen <- true
		default:
			seen <- false
		}
	}}, nil)
	p := peer{t, b}
	sent := goCall(func() (v jsontext.Value, err error) {
		call, err = c.Go(t.Context(), ID{}, "ask", nil)
		return v, err
	})
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	if o := <-sent; o.err != nil {
		t.Fatal(o.err)
	}
	p.send(`{"jsonrpc":"2.0","method":"before"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":7}`)
	p.send(`{"jsonrpc":"2.0","method":"after"}`)
	if before, after := <-seen, <-seen; before || !after {
		t.Errorf("answered before: %v, after: %v", before, after)
	}
	for range 2 {
		if v, err := call.Wait(t.Context()); err != nil || string(v) != "7" {
			t.Errorf("got %s, %v", v, err)
		}
	}
}
