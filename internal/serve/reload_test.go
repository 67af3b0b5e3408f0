package serve_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// answer is how a call ended.
type answer struct {
	result string
	err    error
}

// begin sends a request and answers it on a channel.
func (c *client) begin(method, params string) <-chan answer {
	return c.beginWith(acp.ID{}, method, params)
}

func (c *client) beginWith(id acp.ID, method, params string) <-chan answer {
	done := make(chan answer, 1)
	pending, err := c.conn.Go(c.h.Context(), id, method, jsontext.Value(params))
	if err != nil {
		c.h.Fatal(err)
	}
	go func() {
		v, err := pending.Wait(c.h.Context())
		done <- answer{string(v), err}
	}()
	return done
}

func (h *house) loadParams(id string) string {
	return `{"sessionId":"` + id + `","cwd":"` + h.dir + `","mcpServers":[]}`
}

// count counts the notifications from the nth on that hold all of the parts.
func (c *client) count(from int, parts ...string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, note := range c.notes[from:] {
		if holds(note, parts) {
			n++
		}
	}
	return n
}

func (c *client) heardSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.notes)
}

func TestReloadWhileATurnRuns(t *testing.T) {
	for _, method := range []string{"session/load", "session/resume"} {
		h := newHouse(t)
		a := h.connect(session.Approver, `{}`)
		id := a.open()
		prompted := a.begin("session/prompt", prompt(id, "chunks 3\nwait go\nsay end"))
		a.until("agent_message_chunk", `"2 "`)
		from := a.heardSoFar()
		a.must(method, h.loadParams(id))
		h.script.Go("go")
		got := <-prompted
		if got.err != nil || !strings.Contains(got.result, `"content":"0 1 2 end"`) {
			t.Errorf("%s: the prompt was answered %s, %v", method, got.result, got.err)
		}
		want := map[string]int{"session/load": 1, "session/resume": 0}[method]
		if n := a.count(from, "agent_message_chunk", `"1 "`); n != want {
			t.Errorf("%s: an old chunk came %d times after it, want %d", method, n, want)
		}
		if n := a.count(from, "agent_message_chunk", `"end"`); n != 1 {
			t.Errorf("%s: a new chunk came %d times", method, n)
		}
	}
}

// A client that reads slowly loads the session again; the end of its turn has
// not reached it yet.
func TestReloadMeetsTheEndOfATurn(t *testing.T) {
	for _, method := range []string{"session/load", "session/resume"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
			id := a.open()
			b.must("session/resume", h.loadParams(id))
			prompted := a.begin("session/prompt", prompt(id, "say one\nwait go\nsay two\nsay three"))
			a.until("agent_message_chunk", "one")
			gate := a.hold()
			h.script.Go("go")
			b.must("session/prompt", prompt(id, "say next")) // runs when the turn is over
			loaded := a.begin(method, h.loadParams(id))
			synctest.Wait()
			close(gate)
			got := <-prompted
			if got.err != nil || !strings.Contains(got.result, `"content":"onetwothree"`) {
				t.Errorf("%s: the prompt was answered %s, %v", method, got.result, got.err)
			}
			if got := <-loaded; got.err != nil {
				t.Error(got.err)
			}
			want := map[string]int{"session/load": 2, "session/resume": 1}[method]
			if n := a.count(0, "agent_message_chunk", `"next"`); n != want {
				t.Errorf("%s: a chunk of the other turn came %d times, want %d", method, n, want)
			}
		})
	}
}

// wire is a client's end of a connection, which may stop reading.
type wire struct {
	acp.MessageConn
	gate atomic.Pointer[chan struct{}]

	mu   sync.Mutex
	read []string
}

func (w *wire) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	msg, err := w.MessageConn.ReadMessage(ctx)
	w.mu.Lock()
	w.read = append(w.read, string(msg))
	w.mu.Unlock()
	if gate := w.gate.Load(); gate != nil {
		<-*gate
	}
	return msg, err
}

// hold lets the client take in one more message, and the next only once the
// channel is closed.
func (c *client) hold() chan<- struct{} {
	gate := make(chan struct{})
	c.wire.gate.Store(&gate)
	return gate
}

func TestReloadKeepsOpenRequests(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	prompted := a.begin("session/prompt", prompt(id, "ask"))
	asked := a.request(0)
	for range 20 {
		a.must("session/load", h.loadParams(id))
	}
	if err := asked.Reply(jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"yes"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := <-prompted; got.err != nil || !strings.Contains(got.result, "ask selectedyes") {
		t.Errorf("the prompt was answered %s, %v", got.result, got.err)
	}
	if asked.ctx.Err() != nil {
		t.Error("the request was withdrawn")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) != 1 {
		t.Errorf("the client was asked %d times", len(a.asked))
	}
}

// A load that is refused leaves everything as it was.
func TestRefusedReload(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	prompted := a.begin("session/prompt", prompt(id, "say one\nwait go\nsay two"))
	a.until("agent_message_chunk", "one")
	elsewhere := `{"sessionId":"` + id + `","cwd":"` + t.TempDir() + `","mcpServers":[]}`
	if code := a.code("session/load", elsewhere); code != acp.CodeInvalidParams {
		t.Errorf("moving a session at work: %d", code)
	}
	h.script.Go("go")
	if got := <-prompted; got.err != nil || !strings.Contains(got.result, `"content":"onetwo"`) {
		t.Errorf("the prompt was answered %s, %v", got.result, got.err)
	}
}

// A turn goes on when the client that asked for it is gone: it may come back,
// and others may be watching.
func TestLostConnectionCancelsNothing(t *testing.T) {
	h := newHouse(t)
	a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.open()
	b.must("session/resume", h.loadParams(id))
	a.begin("session/prompt", prompt(id, "say one\nwait go\nsay two"))
	b.until("agent_message_chunk", "one")
	_ = a.conn.Close()
	<-a.served
	h.script.Go("go")
	b.until("agent_message_chunk", "two")
	b.must("session/close", `{"sessionId":"`+id+`"}`)
}

func TestCancelRequestCancelsTheTurn(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	ctx, cancel := context.WithCancel(t.Context())
	pending, err := a.conn.Go(ctx, acp.ID{}, "session/prompt", jsontext.Value(prompt(id, "say one\nwait never")))
	if err != nil {
		t.Fatal(err)
	}
	a.until("agent_message_chunk", "one")
	cancel()
	_, _ = pending.Wait(ctx)
	a.must("session/prompt", prompt(id, "say next")) // it would wait for ever
}

// The result's content is what was shown as the agent's words, a warning to a
// client without notices included.
func TestContentIsWhatWasShown(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{}`:                         `"content":"onecareful\n"`,
		`{"_meta":{"zeroclaw":{}}}`:  `"content":"onecareful\n"`,
		`{"session":{"notices":{}}}`: `"content":"one"`,
	} {
		h := newHouse(t)
		a := h.connect(session.Approver, capabilities)
		id := a.open()
		if got := string(a.must("session/prompt", prompt(id, "say one\nwarn careful"))); !strings.Contains(got, want) {
			t.Errorf("%s: %s", capabilities, got)
		}
	}
}
