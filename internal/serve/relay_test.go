package serve_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// elsewhere is a ledger as another process sees it whose sessions are active
// in the first; those it makes are its own.
type elsewhere struct {
	session.Ledger
	ended atomic.Bool // the first process is gone
}

func (l *elsewhere) active(id string) error {
	return &session.ActiveElsewhereError{Session: id, Instance: "i_first", Socket: "first"}
}

func (l *elsewhere) Acquire(ctx context.Context, id string) (session.Fence, error) {
	if l.ended.Load() {
		return l.Ledger.Acquire(ctx, id)
	}
	return 0, l.active(id)
}

func (l *elsewhere) Update(_ context.Context, id string, _ session.Fence, _ session.InfoChange) error {
	return l.active(id)
}

func (l *elsewhere) Delete(_ context.Context, id string) error { return l.active(id) }

// door dials the server of a house.
type door struct {
	h      *house
	ledger *elsewhere
	shut   bool        // nobody answers
	leave  func() bool // the process is ending: nobody is there
	dials  atomic.Int32
}

func (d *door) Dial(context.Context, string) (acp.MessageConn, error) {
	d.dials.Add(1)
	if d.leave != nil && d.leave() {
		return nil, errors.New("connection refused")
	}
	near, far := acp.NewPipe()
	if d.shut {
		return near, nil
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = d.h.server.Serve(context.Background(), far, serve.ConnOptions{Owner: "local", Role: session.Approver, Admin: true, Local: true})
	}()
	d.h.Cleanup(func() {
		_ = near.Close()
		<-served
	})
	return near, nil
}

// twoHouses are two processes on one store: the sessions of the first are
// active there.
func twoHouses(t *testing.T) (first, second *house, d *door) {
	ledger := memory.New()
	first, second = newHouse(t), newHouse(t)
	first.on(ledger, serve.Options{Persistent: true})
	d = &door{h: first, ledger: &elsewhere{Ledger: ledger}}
	second.on(d.ledger, serve.Options{Persistent: true, Relay: d})
	second.dir = first.dir
	return first, second, d
}

// What the owner writes reaches the client in its order, answers included.
func TestRelayKeepsTheOrder(t *testing.T) {
	first, second, _ := twoHouses(t)
	id := first.connect(session.Approver, `{}`).open()
	b := second.connect(session.Approver, `{}`)
	b.must("session/load", second.loadParams(id))
	for range 50 {
		b.wire.record()
		one, two := b.begin("session/prompt", prompt(id, "say one")), b.begin("session/prompt", prompt(id, "say two"))
		for _, c := range []<-chan answer{one, two} {
			if got := <-c; got.err != nil {
				t.Fatal(got.err)
			}
		}
		if got := b.wire.recorded(); got != "one end two end" {
			t.Fatalf("the client read: %s", got)
		}
	}
}

// record forgets what was read, recorded tells it.
func (w *wire) record() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read = nil
}

func (w *wire) recorded() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var words []string
	for _, msg := range w.read {
		switch {
		case strings.Contains(msg, `"stopReason"`):
			words = append(words, "end")
		case strings.Contains(msg, `"one"`):
			words = append(words, "one")
		case strings.Contains(msg, `"two"`):
			words = append(words, "two")
		}
	}
	return strings.Join(words, " ")
}

// A session that is active elsewhere is managed there.
func TestManageElsewhere(t *testing.T) {
	first, second, _ := twoHouses(t)
	a := first.connect(session.Approver, `{}`)
	id := a.open()
	named := `{"sessionId":"` + id + `"}`
	b := second.connect(session.Approver, `{}`)
	if got := string(b.must("session/status", named)); got != `{"status":"open"}` {
		t.Errorf("status %s", got)
	}
	if got := string(b.must("session/set_title", `{"sessionId":"`+id+`","title":"from afar"}`)); got != `{"title":"from afar"}` {
		t.Errorf("set_title %s", got)
	}
	a.until("session_info_update", "from afar")
	if code := b.code("session/close", named); code != acp.CodeResourceNotFound {
		t.Errorf("close of what is not active here: %d", code)
	}
	b.must("session/archive", named)
	if code := a.code("session/prompt", prompt(id, "say x")); code != acp.CodeResourceNotFound {
		t.Errorf("prompt to an archived session: %d", code)
	}
	b.must("session/unarchive", named)
	a.must("session/load", first.loadParams(id))
	b.must("session/delete", named)
	if code := a.code("session/load", first.loadParams(id)); code != acp.CodeResourceNotFound {
		t.Errorf("load of a deleted session: %d", code)
	}
}

func TestElsewhereByDialect(t *testing.T) {
	first, second, _ := twoHouses(t)
	id := first.connect(session.Approver, `{}`).open()
	b := second.connect(session.Approver, `{"_meta":{"zeroclaw":{}}}`)
	if code := b.code("session/load", `{"sessionId":"`+id+`"}`); code != acp.CodeInvalidParams {
		t.Errorf("load: %d", code)
	}
}

// A load that the owner refuses leaves nothing behind.
func TestRefusedRelay(t *testing.T) {
	first, second, d := twoHouses(t)
	id := first.connect(session.Approver, `{}`).open()
	b := second.connect(session.Approver, `{}`)
	first.server = serve.New(serve.Options{Hub: first.hub, Agents: oneAgent{first.dir}, Auth: noAuth{}}) // as if its store were gone
	for range 2 {
		if code := b.code("session/load", second.loadParams(id)); code != acp.CodeResourceNotFound {
			t.Errorf("load: %d", code)
		}
	}
	if n := d.dials.Load(); n != 2 {
		t.Errorf("the owner was dialled %d times", n)
	}
	if code := b.code("session/prompt", prompt(id, "say x")); code != acp.CodeResourceNotFound {
		t.Errorf("prompt: %d", code)
	}
}

// A load again that the owner refuses ends nothing.
func TestRefusedRelayAgain(t *testing.T) {
	first, second, _ := twoHouses(t)
	id := first.connect(session.Approver, `{}`).open()
	b := second.connect(session.Approver, `{}`)
	b.must("session/load", second.loadParams(id))
	prompted := b.begin("session/prompt", prompt(id, "say one\nwait go\nsay two"))
	b.until("agent_message_chunk", "one")
	if code := b.code("session/load", `{"sessionId":"`+id+`","cwd":"`+t.TempDir()+`"}`); code != acp.CodeInvalidParams {
		t.Errorf("load: %d", code)
	}
	first.script.Go("go")
	if got := <-prompted; got.err != nil || !strings.Contains(got.result, "onetwo") {
		t.Errorf("the prompt was answered %s, %v", got.result, got.err)
	}
}

func TestOwnerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, d := twoHouses(t)
		id := first.connect(session.Approver, `{}`).open()
		d.shut = true
		b := second.connect(session.Approver, `{}`)
		begun := time.Now()
		_, err := b.call("session/load", second.loadParams(id))
		if err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("load: %v", err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A prompt that is cancelled by $/cancel_request is answered by its turn's end,
// wherever it runs.
func TestCancelRequestThroughRelay(t *testing.T) {
	first, second, _ := twoHouses(t)
	a := first.connect(session.Approver, `{}`)
	id := a.open()
	b := second.connect(session.Approver, `{}`)
	b.must("session/load", second.loadParams(id))
	for _, c := range []*client{a, b} {
		prompted := c.beginWith(acp.StringID("p1"), "session/prompt", prompt(id, "say one\nwait never"))
		c.until("agent_message_chunk", "one")
		if err := c.conn.Notify(t.Context(), "$/cancel_request", jsontext.Value(`{"requestId":"p1"}`)); err != nil {
			t.Fatal(err)
		}
		if got := <-prompted; got.err != nil || !strings.Contains(got.result, `"stopReason":"cancelled"`) {
			t.Errorf("answered %s, %v", got.result, got.err)
		}
	}
}

// The owner ends while another process loads its session.
func TestOwnerThatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, d := twoHouses(t)
		id := first.connect(session.Approver, `{}`).open()
		d.leave = func() bool {
			d.ledger.ended.Store(d.dials.Load() == 3)
			return true
		}
		b := second.connect(session.Approver, `{}`)
		b.must("session/load", second.loadParams(id))
		b.must("session/prompt", prompt(id, "say x"))
	})
}

// The client of a relayed turn closes its side: its process ends, and so does
// the turn it waited for.
func TestEndOfInputWithARelayedTurn(t *testing.T) {
	first, second, _ := twoHouses(t)
	a := first.connect(session.Approver, `{}`)
	id := a.open()
	second.drain = time.Millisecond
	b := second.connect(session.Approver, `{}`)
	b.must("session/load", second.loadParams(id))
	b.begin("session/prompt", prompt(id, "say one\nwait never"))
	b.until("agent_message_chunk", "one")
	_ = b.conn.Close()
	<-b.served
	a.must("session/prompt", prompt(id, "say next")) // it would wait for ever
}

// reader is a driver that reads a file by the client's hands.
type reader struct{ req session.OpenRequest }

func (reader) Open(_ context.Context, req session.OpenRequest) (session.Handle, error) {
	return reader{req}, nil
}

func (reader) Setup() session.Setup { return session.Setup{} }

func (reader) Steer(context.Context, session.Turn) error { return session.ErrUnsupported }

func (reader) Set(context.Context, string, string, string) (session.Setup, error) {
	return session.Setup{}, session.ErrUnsupported
}

func (reader) Close(context.Context) error { return nil }

func (reader) Prompt(ctx context.Context, t session.Turn) (session.TurnEnd, error) {
	if t.Hands.FS == nil {
		return session.TurnEnd{}, session.ErrHandsGone
	}
	if _, err := t.Hands.FS.ReadTextFile(ctx, "/f", 0, 0); err != nil {
		return session.TurnEnd{}, err
	}
	return session.TurnEnd{}, nil
}

// leftAlone is a driver that reads by the client's hands while the client leaves,
// and once more afterwards.
type leftAlone struct {
	reader
	reads chan error
}

func (d leftAlone) Open(context.Context, session.OpenRequest) (session.Handle, error) { return d, nil }

func (d leftAlone) Prompt(ctx context.Context, t session.Turn) (session.TurnEnd, error) {
	for range 2 {
		_, err := t.Hands.FS.ReadTextFile(ctx, "/f", 0, 0)
		d.reads <- err
	}
	return session.TurnEnd{}, nil
}

func TestHandsOfAClientThatLeft(t *testing.T) {
	h := newHouse(t)
	d := leftAlone{reads: make(chan error, 2)}
	h.driver = d
	h.on(memory.New(), serve.Options{Persistent: true})
	a := h.connect(session.Approver, `{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	a.begin("session/prompt", prompt(a.open(), "x"))
	a.request(0)
	_ = a.conn.Close()
	if err := <-d.reads; err == nil || errors.Is(err, session.ErrHandsGone) {
		t.Errorf("the call that was open: %v", err)
	}
	if err := <-d.reads; !errors.Is(err, session.ErrHandsGone) {
		t.Errorf("the call after it: %v", err)
	}
}

// Requests of two processes to one client have ids of their own.
func TestHandsThroughTwoProcesses(t *testing.T) {
	first, second, _ := twoHouses(t)
	first.driver, second.driver = reader{}, reader{}
	id := first.connect(session.Approver, `{}`).open()
	b := second.connect(session.Approver, `{"fs":{"readTextFile":true,"writeTextFile":true}}`)
	b.must("session/load", second.loadParams(id))
	here := b.begin("session/prompt", prompt(b.open(), "x"))
	asked := []question{b.request(0)}
	there := b.begin("session/prompt", prompt(id, "x"))
	asked = append(asked, b.request(1))
	for _, q := range asked {
		if err := q.Reply(jsontext.Value(`{"content":"text"}`)); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []<-chan answer{here, there} {
		if got := <-c; got.err != nil {
			t.Error(got.err)
		}
	}
}
