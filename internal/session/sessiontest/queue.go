package sessiontest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func queueContracts() []contract {
	reject := hub.Limits{Limits: actor.Limits{Concurrent: actor.Reject}}
	steer := hub.Limits{Limits: actor.Limits{Concurrent: actor.Steer}}
	small := hub.Limits{Limits: actor.Limits{Queue: 2}}
	return []contract{
		{name: "X10_QueuedPromptsRunInOrder", test: testQueue},
		{name: "X10_QueueIsBounded", limits: small, test: testQueueBound},
		{name: "X10_Reject", limits: reject, test: testReject},
		{name: "X10_Steer", limits: steer, test: testSteerPolicy},
		{name: "X10_Exclusive", test: testExclusive},
		{name: "CancelAnswersQueuedPrompts", test: testCancelQueue},
		{name: "CancelOneTurn", test: testCancelTurn},
		{name: "Steer", test: testSteer},
		{name: "KeysAreAnsweredOnce", test: testKeys},
		{name: "KeyOfAnInterruptedTurn", test: testKeyInterrupted},
	}
}

func testQueue(e *Env) {
	c := e.New()
	var turns []string
	for i := range 4 {
		p := c.Send(fmt.Sprintf("wait go%d\nsay %d", i, i))
		if p.Queued != (i > 0) {
			e.Errorf("prompt %d queued: %v", i, p.Queued)
		}
		turns = append(turns, p.Turn)
	}
	for i, turn := range turns {
		e.Script.Go(fmt.Sprintf("go%d", i))
		if end := c.End(turn); end.Stop != session.EndTurn {
			e.Errorf("prompt %d: %+v", i, end)
		}
	}
	want := ""
	for i := range turns {
		want += fmt.Sprintf("turn_start\nagent: %d\nend: end_turn\n", i)
	}
	if d := cmp.Diff(want, c.Transcript()); d != "" {
		e.Error(d)
	}
	e.CheckLedger(c.Info().ID)
}

// testCancelTurn: one prompt is cancelled, queued or running, and no other.
func testCancelTurn(e *Env) {
	c := e.New()
	running, second, third := c.Send("wait go\nsay 1"), c.Send("say 2"), c.Send("wait never")
	last := c.Send("say 4")
	for _, turn := range []string{"t_unknown", second.Turn, second.Turn} {
		if err := c.CancelTurn(e.Context(), turn); err != nil {
			e.Fatal(err)
		}
	}
	if end := c.End(second.Turn); end.Stop != session.Cancelled {
		e.Errorf("the queued one ended with %+v", end)
	}
	if s, err := e.Hub.Status(e.Context(), c.Info().ID); err != nil || s.Turn != running.Turn {
		e.Errorf("status %+v, %v: the running one is to go on", s, err)
	}
	e.Script.Go("go")
	if end := c.End(running.Turn); end.Stop != session.EndTurn {
		e.Errorf("the running one ended with %+v", end)
	}
	c.Until(func(ev session.Event) bool { return ev.Kind == session.KindTurnStart && ev.Turn == third.Turn })
	if err := c.CancelTurn(e.Context(), third.Turn); err != nil {
		e.Fatal(err)
	}
	if end := c.End(third.Turn); end.Stop != session.Cancelled {
		e.Errorf("the next one ended with %+v", end)
	}
	if end := c.End(last.Turn); end.Stop != session.EndTurn {
		e.Errorf("the last one ended with %+v", end)
	}
	e.CheckLedger(c.Info().ID)
}

func testQueueBound(e *Env) {
	c := e.New()
	p := c.Send("wait go")
	c.Send("say 1")
	c.Send("say 2")
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say 3")}); !errors.Is(err, session.ErrBusy) {
		e.Errorf("got %v, want ErrBusy", err)
	}
	e.Script.Go("go")
	c.End(p.Turn)
}

func testReject(e *Env) {
	c := e.New()
	p := c.Send("wait go")
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say no")}); !errors.Is(err, session.ErrBusy) {
		e.Errorf("got %v, want ErrBusy", err)
	}
	e.Script.Go("go")
	c.End(p.Turn)
	if end := c.Say("say yes"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	if strings.Contains(c.Transcript(), "no") {
		e.Error("a rejected prompt ran")
	}
}

// testExclusive prompts for a client that takes no queueing.
func testExclusive(e *Env) {
	c := e.New()
	p := c.Send("wait go")
	only := session.PromptRequest{Content: Blocks("say no"), Exclusive: true}
	if _, err := c.Prompt(e.Context(), only); !errors.Is(err, session.ErrBusy) {
		e.Errorf("got %v, want ErrBusy", err)
	}
	e.Script.Go("go")
	c.End(p.Turn)
	q, err := c.Prompt(e.Context(), only)
	if err != nil {
		e.Fatal(err)
	}
	c.End(q.Turn)
}

func testSteerPolicy(e *Env) {
	c := e.New()
	p := c.Send("wait go")
	e.Script.UntilSeen(1)
	joined, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("more"), Key: "k"})
	if err != nil || joined.Turn != p.Turn || joined.Queued {
		e.Fatalf("got %+v, %v", joined, err)
	}
	again, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("more"), Key: "k"})
	if err != nil || again.Turn != p.Turn {
		e.Errorf("the repeat: %+v, %v", again, err)
	}
	e.Script.Go("go")
	c.End(p.Turn)
	want := "epoch\nturn_start\nuser: wait go\nuser: more\nagent: steered: more\nend: end_turn\n"
	if d := cmp.Diff(want, Transcript(e.Read(c.Info().ID))); d != "" {
		e.Error(d)
	}
	e.Script.SteerErr = session.ErrUnsupported
	p = c.Send("wait go2")
	q := c.Send("say queued")
	if !q.Queued {
		e.Errorf("a driver that cannot be steered: %+v", q)
	}
	e.Script.Go("go2")
	c.End(q.Turn)
	e.CheckLedger(c.Info().ID)
}

func testCancelQueue(e *Env) {
	c := e.New()
	running := c.Send("wait never")
	one, two := c.Send("say one"), c.Send("say two")
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	for _, p := range []session.Prompted{running, one, two} {
		if end := c.End(p.Turn); end.Stop != session.Cancelled {
			e.Errorf("got %+v", end)
		}
	}
	c.Say("say after")
	for _, text := range e.Script.Seen() {
		if text == "say one" || text == "say two" {
			e.Errorf("a cancelled prompt ran: %s", text)
		}
	}
	if strings.Contains(Transcript(e.Read(c.Info().ID)), "user: say one") {
		e.Error("its user message was shown")
	}
	e.CheckLedger(c.Info().ID)
}

func testSteer(e *Env) {
	c := e.New()
	other := e.Join(c.Info().ID, Approver(session.ReplayNone))
	how, turn, err := c.Steer(e.Context(), Blocks("wait go"))
	if err != nil || how != session.StartedNewTurn {
		e.Fatalf("idle: %v, %v", how, err)
	}
	e.Script.UntilSeen(1)
	how, in, err := c.Steer(e.Context(), Blocks("left"))
	if err != nil || how != session.Injected || in != turn {
		e.Fatalf("running: %v in %s, %v", how, in, err)
	}
	e.Script.SteerErr = session.ErrUnsupported
	if how, _, err := c.Steer(e.Context(), Blocks("right")); err != nil || how != session.SteerFailed {
		e.Errorf("a driver that cannot: %v, %v", how, err)
	}
	e.Script.Go("go")
	c.End(turn)
	other.End(turn)
	want := "turn_start\nuser: wait go\nuser: left\nagent: steered: left\nend: end_turn\n"
	if d := cmp.Diff(want, other.Transcript()); d != "" {
		e.Error(d)
	}
}

func testKeys(e *Env) {
	c := e.New()
	send := func(key, text string) session.Prompted {
		e.Helper()
		p, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks(text), Key: key})
		if err != nil {
			e.Fatal(err)
		}
		return p
	}
	first := send("k1", "wait go\nsay once")
	queued := send("k2", "say twice")
	if again := send("k1", "wait go\nsay once"); again.Turn != first.Turn || !again.Repeat || again.Queued || again.Ended != nil {
		e.Errorf("running: %+v", again)
	}
	if again := send("k2", "say twice"); again.Turn != queued.Turn || !again.Queued {
		e.Errorf("queued: %+v", again)
	}
	e.Script.Go("go")
	c.End(queued.Turn)
	check := func() {
		e.Helper()
		again := send("k1", "wait go\nsay once")
		if again.Turn != first.Turn || again.Ended == nil || again.Ended.Stop != session.EndTurn {
			e.Errorf("ended: %+v", again)
		}
	}
	check()
	if n := len(e.Script.Seen()); n != 2 {
		e.Errorf("the driver saw %d prompts, want 2", n)
	}
	id := c.Info().ID
	if err := e.Hub.Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	c = e.Join(id, Approver(session.ReplayNone))
	check()
}

func testKeyInterrupted(e *Env) {
	c := e.New()
	p, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("wait never"), Key: "k"})
	if err != nil {
		e.Fatal(err)
	}
	e.Restart()
	c = e.Join(c.Info().ID, Approver(session.ReplayNone))
	again, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("wait never"), Key: "k"})
	if err != nil || again.Turn != p.Turn || again.Ended == nil || again.Ended.Error == nil {
		e.Fatalf("got %+v, %v", again, err)
	}
	if f := again.Ended.Error; f.Code != -32603 || string(f.Data) != `{"reason":"interrupted"}` {
		e.Errorf("got %+v", f)
	}
}
