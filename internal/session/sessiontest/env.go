package sessiontest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// both are the kinds of requests a client can answer.
var both = []session.Kind{session.KindPermission, session.KindElicitation}

// Env is a hub on a ledger with a scripted driver behind it.
type Env struct {
	*testing.T
	Ledger session.Ledger
	Script *Script
	Limits hub.Limits
	Hub    *hub.Hub
}

// NewEnv makes one; everything is closed when the test ends.
func NewEnv(t *testing.T, ledger session.Ledger, limits hub.Limits) *Env {
	e := &Env{T: t, Ledger: ledger, Script: &Script{}, Limits: limits}
	if e.Limits.Settle == 0 {
		e.Limits.Settle = 100 * time.Millisecond
	}
	e.Restart()
	return e
}

// Restart puts a new hub on the ledger, as a new process after a kill would: the
// old one closes nothing and can write no more.
func (e *Env) Restart() {
	h := hub.New(hub.Options{Ledger: e.Ledger, Limits: e.Limits, Drivers: e.driver})
	e.Hub = h
	e.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := h.Drain(ctx); err != nil {
			e.Errorf("drain: %v", err)
		}
	})
}

func (e *Env) driver(agent string) (session.Driver, error) {
	if agent == "unknown" {
		return nil, session.Invalidf("unknown agent %q", agent)
	}
	return e.Script, nil
}

// New creates a session and attaches an approver.
func (e *Env) New() *Client {
	e.Helper()
	return e.NewFor(hub.NewSession{})
}

// NewFor creates a session with what n says.
func (e *Env) NewFor(n hub.NewSession) *Client {
	e.Helper()
	if n.Owner == "" {
		n.Owner = "local"
	}
	if n.Cwd == "" {
		n.Cwd = "/w"
	}
	if n.Attach.Role == session.Observer {
		n.Attach.Role, n.Attach.Answers = session.Approver, both
	}
	n.Agent = "main"
	a, err := e.Hub.Create(e.Context(), n)
	if err != nil {
		e.Fatalf("create: %v", err)
	}
	return Pump(e.T, a)
}

// Join attaches one more client.
func (e *Env) Join(id string, req session.AttachRequest) *Client {
	e.Helper()
	a, err := e.Hub.Attach(e.Context(), id, req)
	if err != nil {
		e.Fatalf("attach: %v", err)
	}
	c := Pump(e.T, a)
	switch req.Replay {
	case session.ReplayNone:
		c.Cursor = a.Start()
	case session.ReplayAfter:
		c.Cursor = min(req.After, a.Start())
	}
	return c
}

// Approver is a request to attach with all rights.
func Approver(replay session.Replay) session.AttachRequest {
	return session.AttachRequest{Owner: "local", Role: session.Approver, Replay: replay, Answers: both}
}

// Read returns what the ledger holds of a session.
func (e *Env) Read(id string) []session.Event {
	e.Helper()
	var all []session.Event
	for {
		page, err := e.Ledger.Read(context.Background(), id, session.Seq(len(all)), 1000)
		if err != nil {
			e.Fatalf("read: %v", err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
	}
}

// CheckLedger checks what must hold of any session's events: numbers without
// gaps, one end per turn, no tool call open when a turn ends or left open, no
// request left open, updates only of calls that were announced.
func (e *Env) CheckLedger(id string) {
	e.Helper()
	CheckEvents(e.T, e.Read(id))
}

// CheckEvents is CheckLedger for events at hand.
func CheckEvents(t testing.TB, events []session.Event) {
	t.Helper()
	ends := map[string]int{}
	started := map[string]bool{}
	open := map[string]bool{}
	known := map[string]bool{}
	asked := map[string]bool{}
	for i, ev := range events {
		if ev.Seq != session.Seq(i+1) {
			t.Fatalf("event %d has number %d", i+1, ev.Seq)
		}
		switch ev.Kind {
		case session.KindTurnStart:
			started[ev.Turn] = true
		case session.KindQueued:
			started[ev.Turn] = true
		case session.KindTurnEnd:
			ends[ev.Turn]++
			if len(open) > 0 && !isQueuedEnd(events[:i], ev.Turn) {
				t.Errorf("tool calls %v are open at the end of %s", open, ev.Turn)
			}
		case session.KindToolCall, session.KindToolUpdate:
			checkCall(t, ev, open, known)
		case session.KindPermission, session.KindElicitation:
			asked[ev.ID] = true
		case session.KindVerdict:
			var v session.Verdict
			_ = json.Unmarshal(ev.Body, &v)
			if !asked[v.Request] {
				t.Errorf("a verdict on %s, which is not open", v.Request)
			}
			delete(asked, v.Request)
		}
	}
	for turn := range started {
		if ends[turn] != 1 {
			t.Errorf("turn %s ended %d times", turn, ends[turn])
		}
	}
	if len(open) > 0 || len(asked) > 0 {
		t.Errorf("left open: calls %v, requests %v", open, asked)
	}
}

// isQueuedEnd reports whether a turn ends that never started.
func isQueuedEnd(before []session.Event, turn string) bool {
	return !slices.ContainsFunc(before, func(e session.Event) bool {
		return e.Kind == session.KindTurnStart && e.Turn == turn
	})
}

func checkCall(t testing.TB, ev session.Event, open, known map[string]bool) {
	t.Helper()
	f, err := ingest.Look(ev.Body)
	if err != nil {
		t.Errorf("event %d: %v", ev.Seq, err)
	}
	id := ingest.Text(ev.Body, ev.Marks.ToolCallID)
	switch {
	case ev.Kind == session.KindToolCall && known[id] && !open[id]:
		t.Errorf("event %d announces tool call %s again", ev.Seq, id)
	case ev.Kind == session.KindToolUpdate && !known[id]:
		t.Errorf("event %d updates tool call %s, which was not announced", ev.Seq, id)
	}
	known[id] = true
	if f.Terminal(ev.Body) {
		delete(open, id)
	} else if ev.Kind == session.KindToolCall {
		open[id] = true
	}
}
