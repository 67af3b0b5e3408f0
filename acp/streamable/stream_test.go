package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// update is the nth update of a session, with some text.
func update(session string, n int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"n":%d,"text":%q}}`, session, n, text)
}

// TestBufferedUntilOpened shows that nothing is lost before a stream is there, nor
// between two receivers of it, and that there is only one at a time.
func TestBufferedUntilOpened(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{})
			agent, id := h.open()
			h.send(agent, update("s", 1, ""), update("s", 2, ""))
			stream := h.events(id, "s")
			for n := 1; n <= 2; n++ {
				if got := stream.next(); got != update("s", n, "") {
					t.Fatalf("update %d is %s", n, got)
				}
			}
			h.want(409, h.do("GET", "", HeaderConnectionID, id, HeaderSessionID, "s"))
			stream.body.Close()
			h.reopened(id, "s", func() { h.send(agent, update("s", 3, "")) })
		})
	}
}

// reopened opens a stream anew, once its last receiver is gone, and expects one
// message on it.
func (h *host) reopened(id, session string, send func()) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		resp := h.do("GET", "", HeaderConnectionID, id, HeaderSessionID, session)
		if resp.StatusCode == http.StatusConflict {
			resp.Body.Close()
			continue // the server has not noticed yet
		}
		send()
		body := make([]byte, 1)
		if _, err := resp.Body.Read(body); resp.StatusCode != 200 || err != nil {
			h.t.Fatalf("HTTP %d, %v", resp.StatusCode, err)
		}
		return
	}
	h.t.Fatal("the stream was never free again")
}

// TestDelete shows that an end by the client ends streams and the agent's input.
func TestDelete(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{})
			agent, id := h.open()
			stream := h.events(id, "")
			h.want(202, h.do("DELETE", "", HeaderConnectionID, id))
			h.want(404, h.do("DELETE", "", HeaderConnectionID, id))
			h.want(404, h.do("GET", "", HeaderConnectionID, id))
			if got := stream.next(); got != "" {
				t.Errorf("the stream goes on with %s", got)
			}
			if _, err := agent.ReadMessage(t.Context()); err != io.EOF {
				t.Errorf("the agent reads %v", err)
			}
			if err := agent.WriteMessage(t.Context(), jsontext.Value(update("s", 1, ""))); err != acp.ErrClosed {
				t.Errorf("the agent writes: %v", err)
			}
			if err := agent.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAgentCloses shows that open streams get what waits for them.
func TestAgentCloses(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{})
			agent, id := h.open()
			stream := h.events(id, "s")
			for n := range 1000 {
				h.send(agent, update("s", n, ""))
			}
			agent.Close()
			for n := range 1000 {
				if got := stream.next(); got != update("s", n, "") {
					t.Fatalf("update %d is %q", n, got)
				}
			}
			if got := stream.next(); got != "" {
				t.Errorf("the stream goes on with %s", got)
			}
			if _, err := agent.ReadMessage(t.Context()); err != acp.ErrClosed {
				t.Errorf("the agent reads %v", err)
			}
		})
	}
}

// TestServerCloses shows what a shutdown does.
func TestServerCloses(t *testing.T) {
	h := serve(t, wires[0], Options{})
	agent, id := h.open()
	stream := h.events(id, "")
	h.server.Close()
	if got := stream.next(); got != "" {
		t.Errorf("the stream goes on with %s", got)
	}
	if _, err := agent.ReadMessage(t.Context()); err != io.EOF {
		t.Errorf("the agent reads %v", err)
	}
	h.want(503, h.do("POST", initRequest))
}

// TestInitializeFails shows the answers when there is no agent to answer.
func TestInitializeFails(t *testing.T) {
	tests := []struct {
		name  string
		agent func(c acp.MessageConn)
	}{
		{"closed before it is read", func(c acp.MessageConn) { c.Close() }},
		{"closed after it is read", func(c acp.MessageConn) {
			_, _ = c.ReadMessage(context.Background())
			c.Close()
		}},
	}
	for _, tt := range tests {
		h := serve(t, wires[0], Options{})
		go func() { tt.agent(<-h.conns) }()
		h.want(500, h.do("POST", initRequest))
	}
	t.Run("answered and closed at once", func(t *testing.T) {
		h := serve(t, wires[0], Options{})
		go func() {
			c := <-h.conns
			_, _ = c.ReadMessage(context.Background())
			_ = c.WriteMessage(context.Background(), jsontext.Value(initAnswer))
			c.Close()
		}()
		h.want(200, h.do("POST", initRequest))
	})
}

// TestKeepalive shows the comments on a silent stream, which outlives the stall
// time.
func TestKeepalive(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			h := serve(t, wire, Options{Keepalive: 500 * time.Millisecond, Stall: 300 * time.Millisecond})
			agent, id := h.open()
			stream := h.events(id, "")
			for range 3 {
				if got := stream.next(); got != ": keepalive" {
					t.Fatalf("got %q", got)
				}
			}
			h.send(agent, `{"jsonrpc":"2.0","method":"_x"}`)
			for got := stream.next(); !strings.HasPrefix(got, "{"); got = stream.next() {
				if got != ": keepalive" {
					t.Fatalf("got %q", got)
				}
			}
		})
	}
}

// TestIdle shows that a connection nobody uses ends, and one that is used does not.
func TestIdle(t *testing.T) {
	const idle = 500 * time.Millisecond
	h := serve(t, wires[0], Options{Idle: idle})
	agent, id := h.open()
	stream := h.events(id, "")
	time.Sleep(2 * idle) // the time itself is what is tested
	h.send(agent, `{"jsonrpc":"2.0","method":"_x"}`)
	if got := stream.next(); got == "" {
		t.Fatal("a connection with an open stream ended")
	}
	stream.body.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := agent.ReadMessage(ctx); err != io.EOF {
		t.Errorf("the agent reads %v", err)
	}
	h.want(404, h.do("GET", "", HeaderConnectionID, id))
}

// TestNobodyReads shows that the agent waits when the buffer is full, and that
// the connection ends when it stays full, as seen by requests and by the agent.
func TestNobodyReads(t *testing.T) {
	h := serve(t, wires[0], Options{MaxBuffered: 10_000, Stall: 200 * time.Millisecond})
	agent, id := h.open()
	for err := error(nil); ; {
		if err = agent.WriteMessage(t.Context(), jsontext.Value(update("s", 0, strings.Repeat("x", 1000)))); err != nil {
			if !errors.Is(err, errNotRead) {
				t.Errorf("the write ends with %v", err)
			}
			break
		}
	}
	if _, err := agent.ReadMessage(t.Context()); !errors.Is(err, errNotRead) {
		t.Errorf("the read ends with %v", err)
	}
	h.want(404, h.do("DELETE", "", HeaderConnectionID, id))
}

// TestWaitsForRoom shows that a full buffer goes on when its stream is opened, and
// that the context of a write ends its wait.
func TestWaitsForRoom(t *testing.T) {
	h := serve(t, wires[0], Options{MaxBuffered: 10_000})
	agent, id := h.open()
	text := strings.Repeat("x", 1000)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	kept := 0
	for agent.WriteMessage(ctx, jsontext.Value(update("s", kept, text))) == nil {
		kept++
	}
	if kept != 8 {
		t.Errorf("%d updates of a kilobyte fit into 10 kB", kept)
	}
	const more = 100
	written := make(chan struct{})
	go func() {
		defer close(written)
		for n := kept; n < more; n++ {
			h.send(agent, update("s", n, text))
		}
	}()
	stream := h.events(id, "s")
	for n := range more {
		if got := stream.next(); got != update("s", n, text) {
			t.Fatalf("update %d is %.100q", n, got)
		}
	}
	<-written
}

// TestSlowStream shows that a stream whose client does not read holds up what is
// for it, at its own bound, and nothing else; after the stall time it is lost.
func TestSlowStream(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{MaxBuffered: 64 << 20, Stall: 500 * time.Millisecond})
			agent, id := h.open()
			slow, other := h.events(id, "slow"), h.events(id, "other")
			defer slow.body.Close()
			text := strings.Repeat("x", 10_000)
			ctx, cancel := context.WithCancel(t.Context())
			c := agent.(*conn)
			var writer sync.WaitGroup
			defer writer.Wait()
			defer cancel()
			writer.Go(func() {
				for agent.WriteMessage(ctx, jsontext.Value(update("slow", 0, text))) == nil {
					c.mu.Lock()
					if st := c.streams["slow"]; st.open && st.bytes > openBytes {
						t.Errorf("%d bytes wait for an open stream", st.bytes)
					}
					c.mu.Unlock()
				}
			})
			for n := range 100 {
				h.send(agent, update("other", n, text))
				if got := other.next(); got != update("other", n, text) {
					t.Fatalf("update %d is %.100q", n, got)
				}
			}
			h.gone(c, "slow")
		})
	}
}

// gone waits until the stream has no receiver.
func (h *host) gone(c *conn, session string) {
	h.t.Helper()
	deadline := time.After(patience)
	for {
		c.mu.Lock()
		st, progress := c.streams[session], c.progress
		open := st != nil && st.open
		c.mu.Unlock()
		if !open {
			return
		}
		select {
		case <-progress:
		case <-deadline:
			h.t.Fatal("the stream still has its receiver")
		}
	}
}

// TestLoadOrder shows that the replay is with the client before the answer to its
// load is, though they come on two streams.
func TestLoadOrder(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{})
			agent, id := h.open()
			stream, answers := h.events(id, "s"), h.events(id, "")
			h.post(agent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s"}}`,
				HeaderConnectionID, id, HeaderSessionID, "s")
			const replayed = 2000
			text := strings.Repeat("x", 1000)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				for n := range replayed {
					h.send(agent, update("s", n, text))
				}
				h.send(agent, `{"jsonrpc":"2.0","id":1,"result":{}}`)
			}()
			got := make(chan string, 1)
			go func() { got <- answers.next() }()
			c := agent.(*conn)
			for n := range replayed {
				if n == replayed/2 {
					select {
					case <-got:
						t.Error("the load was answered before its replay was read")
					default:
					}
				}
				if msg := stream.next(); msg != update("s", n, text) {
					t.Fatalf("update %d is %.100q", n, msg)
				}
			}
			<-answered
			if msg := <-got; !strings.Contains(msg, `"id":1`) {
				t.Errorf("the answer is %s", msg)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.routes) != 0 {
				t.Errorf("%d routes are left", len(c.routes))
			}
		})
	}
}

// TestLoadWithoutStream shows that nobody waits for a stream that is not open.
func TestLoadWithoutStream(t *testing.T) {
	h := serve(t, wires[0], Options{})
	agent, id := h.open()
	answers := h.events(id, "")
	h.post(agent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s"}}`,
		HeaderConnectionID, id, HeaderSessionID, "s")
	h.send(agent, update("s", 0, ""), `{"jsonrpc":"2.0","id":1,"result":{}}`)
	if got := answers.next(); !strings.Contains(got, `"id":1`) {
		t.Errorf("the answer is %s", got)
	}
	if got := h.events(id, "s").next(); got != update("s", 0, "") {
		t.Errorf("the replay is %s", got)
	}
}

// TestSlowLoad shows that one who reads slowly, for longer than the stall time,
// loses neither the stream nor the answer that waits for it.
func TestSlowLoad(t *testing.T) {
	const stall, size = time.Second, 16 << 20
	h := serve(t, wires[0], Options{Stall: stall})
	agent, id := h.open()
	stream, answers := h.events(id, "s"), h.events(id, "")
	h.post(agent, `{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s"}}`,
		HeaderConnectionID, id, HeaderSessionID, "s")
	var writer sync.WaitGroup
	writer.Go(func() {
		h.send(agent, update("s", 1, strings.Repeat("x", size)), `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
	got, buf, begin := 0, make([]byte, 64<<10), time.Now()
	for got < size {
		n, err := stream.lines.Read(buf)
		if err != nil {
			t.Fatalf("the stream ended after %d bytes and %v: %v", got, time.Since(begin), err)
		}
		got += n
		time.Sleep(time.Until(begin.Add(2 * stall * time.Duration(got) / size))) // a slow reader
	}
	writer.Wait()
	if took := time.Since(begin); took < stall {
		t.Errorf("it took only %v: the test proves nothing", took)
	}
	if msg := answers.next(); !strings.Contains(msg, `"id":1`) {
		t.Errorf("the answer is %q", msg)
	}
}
