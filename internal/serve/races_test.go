package serve_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestLoadsOfOneSessionAtOnce(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.must("session/prompt", prompt(id, "say past"))
	before := a.count(0, `"past"`)
	const loads = 20
	var all []<-chan answer
	for range loads {
		all = append(all, a.begin("session/load", h.loadParams(id)))
	}
	for _, answered := range all {
		if got := <-answered; got.err != nil {
			t.Errorf("load: %v", got.err)
		}
	}
	if got := a.count(0, `"past"`) - before; got != loads {
		t.Errorf("the past came %d times for %d loads", got, loads)
	}
	a.must("session/prompt", prompt(id, "say new"))
	if got := a.count(0, `"new"`); got != 1 {
		t.Errorf("what is new came %d times", got)
	}
}

// TestRestoreDuringATurn: loading or resuming a session in mid-turn loses
// neither the prompt's answer nor a word, wherever the turn has got to.
func TestRestoreDuringATurn(t *testing.T) {
	h := newHouse(t)
	for range 20 {
		for _, method := range []string{"session/resume", "session/load"} {
			a := h.connect(session.Approver, `{}`)
			id := a.open()
			turn := a.begin("session/prompt", prompt(id, "chunks 40"))
			var all []<-chan answer
			for range 5 {
				all = append(all, a.begin(method, h.loadParams(id)))
			}
			for _, answered := range append(all, turn) {
				if got := <-answered; got.err != nil {
					t.Errorf("%s: %v", method, got.err)
				}
			}
			if got := a.count(0, "agent_message_chunk"); got < 40 || method == "session/resume" && got != 40 {
				t.Errorf("%s: 40 chunks came as %d", method, got)
			}
			a.must("session/close", `{"sessionId":"`+id+`"}`)
		}
	}
}

// TestEndsAreAnswered: whatever ends a session under a turn, everything that was
// asked of it is answered.
func TestEndsAreAnswered(t *testing.T) {
	h := newHouse(t)
	for _, end := range []string{"session/close", "session/delete", "session/archive"} {
		for _, before := range []string{"", "session/stop", "session/load"} {
			t.Run(before+end, func(t *testing.T) {
				a := h.connect(session.Approver, `{}`)
				id := a.open()
				turn := a.begin("session/prompt", prompt(id, "wait never"))
				queued := a.begin("session/prompt", prompt(id, "say later"))
				var earlier <-chan answer
				if before != "" {
					earlier = a.begin(before, h.loadParams(id))
				}
				a.must(end, `{"sessionId":"`+id+`"}`)
				for _, answered := range []<-chan answer{turn, queued} {
					if got := <-answered; got.err != nil || !strings.Contains(got.result, `"stopReason":"cancelled"`) {
						t.Errorf("prompt: %+v", got)
					}
				}
				if before != "" {
					if got := <-earlier; got.err != nil {
						t.Errorf("%s: %v", before, got.err)
					}
				}
			})
		}
	}
}

func TestCancelWhileStopping(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	turn := a.begin("session/prompt", prompt(id, "wait never"))
	stopped := a.begin("session/stop", `{"sessionId":"`+id+`"}`)
	late := a.begin("session/prompt", prompt(id, "say late"))
	if err := a.conn.Notify(context.Background(), "session/cancel", jsontext.Value(`{"sessionId":"`+id+`"}`)); err != nil {
		t.Fatal(err)
	}
	if got := <-turn; got.err != nil || !strings.Contains(got.result, `"stopReason":"cancelled"`) {
		t.Errorf("prompt: %+v", got)
	}
	if got := <-stopped; got.err != nil {
		t.Errorf("stop: %v", got.err)
	}
	<-late // refused, or cancelled with the rest
}

func TestManySmallRequests(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	a.open()
	var wg sync.WaitGroup
	for range 2000 {
		answered := a.begin("session/list", `{}`)
		wg.Go(func() {
			if got := <-answered; got.err != nil {
				t.Error(got.err)
			}
		})
	}
	wg.Wait()
}

// TestDeleteUnderALoad: the rest of a long past is gone before a slow client
// could take it.
func TestDeleteUnderALoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
		id := a.open()
		a.must("session/prompt", prompt(id, "chunks 9000"))
		a.must("session/close", `{"sessionId":"`+id+`"}`)
		gate := a.hold()
		loaded := a.begin("session/load", h.loadParams(id))
		synctest.Wait()
		b.must("session/delete", `{"sessionId":"`+id+`"}`)
		close(gate)
		if got := <-loaded; got.err == nil {
			t.Error("a load that showed half of the past succeeded")
		}
	})
}
