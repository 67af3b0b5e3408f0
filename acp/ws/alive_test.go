package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// outcome is how reading ended.
type outcome struct {
	msgs int
	err  error
	took time.Duration
}

// drain reads until the connection ends.
func drain(c *Conn) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		begin := time.Now()
		for o.err == nil {
			if _, o.err = c.ReadMessage(context.Background()); o.err == nil {
				o.msgs++
			}
		}
		o.took = time.Since(begin)
		done <- o
	}()
	return done
}

// wantCode waits for the end and checks how the connection ended.
func wantCode(t *testing.T, done <-chan outcome, code int, words string) outcome {
	t.Helper()
	select {
	case o := <-done:
		var closed *CloseError
		if !errors.As(o.err, &closed) || closed.Code != code || !strings.Contains(o.err.Error(), words) {
			t.Errorf("ended with %v, want %d %q", o.err, code, words)
		}
		return o
	case <-time.After(patience):
		t.Fatal("the connection did not end")
		return outcome{}
	}
}

// TestHalfOpen is W2: both ends notice a link that swallows everything, within
// two intervals.
func TestHalfOpen(t *testing.T) {
	const interval, slack = 500 * time.Millisecond, time.Second
	h := serve(t, false, AcceptOptions{Ping: interval})
	p := between(t, h)
	client := h.dial(t, DialOptions{Ping: interval})
	server := h.next(t)
	ends := []<-chan outcome{drain(client), drain(server)}
	p.swallowed.Store(true)
	for _, end := range ends {
		o := wantCode(t, end, CodeLost, "did not answer a ping")
		if o.took > 2*interval+slack {
			t.Errorf("noticed after %v, with pings every %v", o.took, interval)
		}
	}
}

// TestSilentIsAlive shows that a peer that only answers pings stays, whoever pings.
func TestSilentIsAlive(t *testing.T) {
	const interval = time.Second // much longer than a busy machine needs for an answer
	for _, ping := range [][2]time.Duration{{interval, interval}, {interval, -1}, {-1, interval}} {
		t.Run(fmt.Sprint(ping), func(t *testing.T) {
			t.Parallel()
			server, client := pair(t, AcceptOptions{Ping: ping[0]}, DialOptions{Ping: ping[1]})
			ends := []<-chan outcome{drain(server), drain(client)}
			time.Sleep(3 * interval) // the time itself is what is tested
			server.Close()
			for i, want := range []error{acp.ErrClosed, io.EOF} {
				if o := <-ends[i]; o.err != want {
					t.Errorf("end %d ended after %v: %v, want %v", i, o.took, o.err, want)
				}
			}
		})
	}
}

// TestUnreadIsNotDead shows that a host that reads nothing for a while does not
// take its peer for dead.
func TestUnreadIsNotDead(t *testing.T) {
	const interval = 20 * time.Millisecond
	server, client := pair(t, AcceptOptions{Ping: interval}, DialOptions{Ping: -1})
	clientEnd := drain(client)
	write(t, client, "1")
	time.Sleep(10 * interval) // the time itself is what is tested
	if got := read(t, server); got != "1" {
		t.Errorf("got %q", got)
	}
	server.Close()
	<-clientEnd
}

// TestStall shows that a peer that reads nothing is given up, and that
// everyone who writes to it learns why. The pings it misses meanwhile do not count.
func TestStall(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			t.Parallel()
			h := serve(t, secure, AcceptOptions{Ping: 500 * time.Millisecond, Stall: 2 * time.Second})
			client := h.dial(t, DialOptions{Ping: -1})
			server := h.next(t)
			end := drain(server)
			var writers sync.WaitGroup
			for range 3 {
				writers.Go(func() {
					msg := jsontext.Value(strings.Repeat("x", 1<<20))
					err := error(nil)
					for err == nil {
						err = server.WriteMessage(t.Context(), msg)
					}
					var closed *CloseError
					if !errors.As(err, &closed) || closed.Code != CodePolicy {
						t.Errorf("a write ended with %v", err)
					}
				})
			}
			writers.Wait()
			wantCode(t, end, CodePolicy, "read nothing for 2s")
			wantCode(t, drain(client), CodeLost, "")
		})
	}
}

// TestSlowReader shows that one who reads a little, for much longer than the
// stall time, gets everything.
func TestSlowReader(t *testing.T) {
	const stall, step, size = 250 * time.Millisecond, 64 << 10, 8 << 20
	h := serve(t, false, AcceptOptions{Ping: -1, Stall: stall})
	raw := rawDial(t, h)
	server := h.next(t)
	end := drain(server)
	written := make(chan error, 1)
	go func() {
		written <- server.WriteMessage(context.Background(), jsontext.Value(strings.Repeat("x", size)))
	}()
	got, begin, buf := 0, time.Now(), make([]byte, step)
	for got < size {
		time.Sleep(10 * time.Millisecond) // a slow reader
		n, err := raw.Read(buf)
		if err != nil {
			t.Fatalf("cut off after %d bytes and %v: %v", got, time.Since(begin), err)
		}
		got += n
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < 2*stall {
		t.Errorf("it took only %v: the test proves nothing", took)
	}
	raw.Close()
	<-end
}

// TestPingDuringLongWrite shows that pings of a peer are read while a write to it
// is blocked, and that it is not given up for the pongs it waits for.
func TestPingDuringLongWrite(t *testing.T) {
	h := serve(t, false, AcceptOptions{Ping: -1})
	raw := rawDial(t, h)
	server := h.next(t)
	end := drain(server)
	const size = 64 << 20
	written := make(chan error, 1)
	go func() {
		written <- server.WriteMessage(context.Background(), jsontext.Value(strings.Repeat("x", size)))
	}()
	for !server.blocked() {
		time.Sleep(time.Millisecond)
	}
	for range 1000 {
		if _, err := raw.Write(frame(0x89, "there?")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raw.Write(frame(0x81, "{}")); err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, raw, maxHeaderBytes-4+size); err != nil {
		t.Fatalf("cut off after %d bytes: %v", n, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	pong := make([]byte, 8)
	if _, err := io.ReadFull(raw, pong); err != nil || string(pong) != "\x8a\x06there?" {
		t.Errorf("after the message comes %q, %v", pong, err)
	}
	raw.Close()
	if o := <-end; o.msgs != 1 {
		t.Errorf("%d messages were read, %v", o.msgs, o.err)
	}
}

// TestLost shows what a reader sees when the link breaks.
func TestLost(t *testing.T) {
	tests := []struct {
		name string
		cut  func(t *testing.T, p *proxy, client *Conn)
	}{
		{"reset", func(_ *testing.T, p *proxy, _ *Conn) { p.reset() }},
		{"end without a close frame", func(_ *testing.T, _ *proxy, client *Conn) { client.wire.Close() }},
		{"in a header", func(t *testing.T, _ *proxy, client *Conn) { cut(t, client, 3) }},
		{"in a message", func(t *testing.T, _ *proxy, client *Conn) { cut(t, client, 100) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := serve(t, false, AcceptOptions{})
			p := between(t, h)
			client := h.dial(t, DialOptions{})
			server := h.next(t)
			write(t, client, "1", "2")
			end := drain(server)
			tt.cut(t, p, client)
			if o := wantCode(t, end, CodeLost, "lost"); o.msgs > 2 {
				t.Errorf("%d messages came", o.msgs)
			}
			for err := error(nil); err == nil; {
				err = server.WriteMessage(t.Context(), jsontext.Value("3"))
			}
		})
	}
}

// cut writes the first n bytes of a frame and closes the socket.
func cut(t *testing.T, client *Conn, n int) {
	t.Helper()
	if _, err := client.wire.rw.Write(frame(0x81, strings.Repeat("x", 1000))[:n]); err != nil {
		t.Fatal(err)
	}
	client.wire.Close()
}

// TestCloseUnblocks shows that a close ends reads and writes that wait, whatever
// the peer does, and returns soon.
func TestCloseUnblocks(t *testing.T) {
	h := serve(t, false, AcceptOptions{})
	rawDial(t, h) // reads nothing, answers nothing
	server := h.next(t)
	end := drain(server)
	written := make(chan error, 1)
	go func() {
		for {
			if err := server.WriteMessage(context.Background(), jsontext.Value(strings.Repeat("x", 1<<20))); err != nil {
				written <- err
				return
			}
		}
	}()
	for !server.blocked() {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() { server.Close() })
	}
	closers.Wait()
	if took := time.Since(begin); took > 5*closeGrace {
		t.Errorf("it took %v", took)
	}
	if err := <-written; !errors.Is(err, acp.ErrClosed) {
		t.Errorf("the write ended with %v", err)
	}
	if o := <-end; o.err != acp.ErrClosed {
		t.Errorf("the read ended with %v", o.err)
	}
}

// blocked reports whether a write has been under way for some milliseconds.
func (c *Conn) blocked() bool {
	for range 20 {
		select {
		case c.wire.writing <- struct{}{}:
			<-c.wire.writing
			return false
		default:
			time.Sleep(time.Millisecond)
		}
	}
	return true
}

// TestWriteContext shows that a context bounds the wait for other writers and
// costs the connection nothing.
func TestWriteContext(t *testing.T) {
	server, client := pair(t, AcceptOptions{}, DialOptions{})
	server.wire.writing <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := server.WriteMessage(ctx, jsontext.Value("1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the write ended with %v", err)
	}
	<-server.wire.writing
	if err := server.WriteMessage(ctx, jsontext.Value("1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a write whose time is over ended with %v", err)
	}
	if err := server.WriteMessage(t.Context(), jsontext.Value("\"\xff\"")); err != acp.ErrInvalidMessage {
		t.Errorf("text that is not UTF-8: %v", err)
	}
	write(t, server, "2")
	if got := read(t, client); got != "2" {
		t.Errorf("got %q", got)
	}
}

// TestManyWriters shows that each message is whole and batches stay together.
func TestManyWriters(t *testing.T) {
	server, client := pair(t, AcceptOptions{}, DialOptions{})
	const writers, batches, inBatch = 8, 50, 5
	serverEnd := drain(server)
	var sent sync.WaitGroup
	for w := range writers {
		sent.Go(func() {
			for b := range batches {
				var msgs []string
				for i := range inBatch {
					msgs = append(msgs, fmt.Sprintf("%d %d %d %s", w, b, i, strings.Repeat("x", b*100)))
				}
				write(t, server, msgs...)
			}
		})
	}
	next := make(map[int]int)
	for range writers * batches {
		var w, b int
		for i := range inBatch {
			var n int
			var text string
			if _, err := fmt.Sscanf(read(t, client)+"|", "%d %d %d %s", &w, &b, &n, &text); err != nil {
				t.Fatal(err)
			}
			if n != i || b != next[w] || len(text) != b*100+1 {
				t.Fatalf("message %d of batch %d of writer %d has %d bytes, after %d of %d", n, b, w, len(text), i, next[w])
			}
		}
		next[w]++
	}
	sent.Wait()
	client.Close()
	<-serverEnd
}
