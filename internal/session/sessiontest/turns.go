package sessiontest

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func turnContracts() []contract {
	return []contract{
		{name: "PromptIsCommittedBeforeTheDriverSeesIt", test: testPromptCommitted},
		{name: "EveryStopReasonIsTheDrivers", test: testStopReasons},
		{name: "T1_OpenCallsAreClosed", test: testOpenCalls},
		{name: "X1_CancelledTurn", test: testCancel},
		{name: "X2_CancelRightBehindThePrompt", test: testCancelAtOnce},
		{name: "X3_CancelWhileAPermissionIsPending", test: testCancelPending},
		{name: "X4_NothingAfterTheEnd", test: testDeafDriver},
		{name: "X7_CancelHitsOneSession", test: testCancelOne},
		{name: "X9_UsableAfterCancel", test: testCancelAgain},
		{name: "X12_DriverDies", test: testDriverDies},
		{name: "DriverDiesBetweenTurns", test: testDriverDiesIdle},
		{name: "DriverCannotBeOpened", test: testDriverOpenFails},
		{name: "CancelOfAnIdleSession", test: testCancelIdle},
	}
}

func testPromptCommitted(e *Env) {
	c := e.New()
	p := c.Send("wait go")
	// Prompt has returned, so its message is committed, whether or not the
	// driver has started.
	got := Transcript(e.Read(c.Info().ID))
	if want := "epoch\nturn_start\nuser: wait go\n"; got != want {
		e.Errorf("committed %q, want %q", got, want)
	}
	e.Script.Go("go")
	c.End(p.Turn)
}

func testStopReasons(e *Env) {
	c := e.New()
	for _, stop := range []session.StopReason{session.MaxTokens, session.MaxTurnRequests, session.Refusal, session.EndTurn} {
		if end := c.Say("stop " + string(stop)); end.Stop != stop || end.Error != nil {
			e.Errorf("got %+v, want %s", end, stop)
		}
	}
	end := c.Say("fail no quota")
	if end.Error == nil || end.Error.Code != -32603 || end.Error.Message != "no quota" || end.Stop != "" {
		e.Errorf("got %+v", end)
	}
	if end := c.Say("say on"); end.Stop != session.EndTurn {
		e.Errorf("after a failure: %+v", end)
	}
	e.CheckLedger(c.Info().ID)
}

// statusOf is the last status seen of a call.
func statusOf(c *Client, call string) string {
	status := ""
	for _, ev := range c.Events {
		line := Line(ev)
		if rest, ok := strings.CutPrefix(line, "tool_call_update: "+call+" "); ok {
			status = rest
		}
	}
	return status
}

func testOpenCalls(e *Env) {
	for script, want := range map[string]string{
		"open a":                "completed",
		"open a\nstop refusal":  "failed",
		"open a\nfail x":        "failed",
		"open a\ndie":           "failed",
		"open a\npanic":         "failed",
		"tool b\nopen a\nask":   "completed",
		"open a\nframes a 9 50": "completed",
	} {
		c := e.NewFor(hub.NewSession{Attach: session.AttachRequest{Role: session.Prompter}})
		c.Say(script)
		if got := statusOf(c, "a"); got != want {
			e.Errorf("%q: the open call ended %q, want %q\n%s", script, got, want, c.Transcript())
		}
		inferred := 0
		for _, ev := range c.Events {
			if ev.Origin == session.FromHub && ev.Kind == session.KindToolUpdate {
				inferred += strings.Count(string(ev.Body), `"_meta":{"grapnel":{"inferred":true}}`)
			}
		}
		if inferred != 1 {
			e.Errorf("%q: %d updates say that they are inferred", script, inferred)
		}
		e.CheckLedger(c.Info().ID)
	}
}

func testCancel(e *Env) {
	c := e.New()
	p := c.Send("say part\nopen a\nwait never")
	c.UntilText("part")
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled || end.Error != nil {
		e.Errorf("got %+v", end)
	}
	if got := statusOf(c, "a"); got != "failed" {
		e.Errorf("the open call ended %q", got)
	}
	e.CheckLedger(c.Info().ID)
}

func testCancelAtOnce(e *Env) {
	c := e.New()
	for i := range 100 {
		p := c.Send("wait never")
		if err := c.Cancel(e.Context()); err != nil {
			e.Fatal(err)
		}
		if end := c.End(p.Turn); end.Stop != session.Cancelled {
			e.Fatalf("round %d: %+v", i, end)
		}
	}
	e.CheckLedger(c.Info().ID)
}

func testCancelPending(e *Env) {
	c := e.New()
	p := c.Send("tool ask0\nask\nsay ran")
	request := c.UntilKind(session.KindPermission)
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		e.Errorf("got %+v", end)
	}
	late, err := c.Answer(e.Context(), session.Verdict{Request: request.ID, Outcome: session.Selected, Option: "yes"})
	if late || err != nil {
		e.Errorf("a late answer counted: %v, %v", late, err)
	}
	if end := c.Say("say next"); end.Stop != session.EndTurn {
		e.Errorf("next turn: %+v", end)
	}
	if strings.Contains(c.Transcript(), "ran") {
		e.Error("the turn went on")
	}
	e.CheckLedger(c.Info().ID)
}

// testDeafDriver cancels a driver that does not stop: its epoch is over and
// what it says later is dropped.
func testDeafDriver(e *Env) {
	c := e.New()
	p := c.Send("say before\ndeaf go\nsay late\nopen late")
	c.UntilText("before")
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		e.Errorf("got %+v", end)
	}
	<-e.Script.Opened()[0].Closed()
	e.Script.Go("go")
	if end := c.Say("say next"); end.Stop != session.EndTurn {
		e.Errorf("next turn: %+v", end)
	}
	if got := Transcript(e.Read(c.Info().ID)); strings.Contains(got, "agent: late") || strings.Contains(got, "tool_call") {
		e.Error("an abandoned driver was heard")
	}
	if n := len(e.Script.Opened()); n != 2 {
		e.Errorf("%d epochs, want 2", n)
	}
	e.CheckLedger(c.Info().ID)
}

func testCancelOne(e *Env) {
	a, b := e.New(), e.New()
	pa, pb := a.Send("wait never"), b.Send("say one\nwait go\nsay two")
	if err := a.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := a.End(pa.Turn); end.Stop != session.Cancelled {
		e.Errorf("the cancelled one: %+v", end)
	}
	e.Script.Go("go")
	if end := b.End(pb.Turn); end.Stop != session.EndTurn {
		e.Errorf("the other: %+v", end)
	}
	if d := cmp.Diff("turn_start\nagent: one\nagent: two\nend: end_turn\n", b.Transcript()); d != "" {
		e.Error(d)
	}
}

func testCancelAgain(e *Env) {
	c := e.New()
	c.Say("private kept")
	for i := range 50 {
		p := c.Send("wait never")
		// Three at once, as people press stop.
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _ = c.Cancel(e.Context()) })
		}
		c.End(p.Turn)
		wg.Wait()
		if end := c.Say("say ok"); end.Stop != session.EndTurn {
			e.Fatalf("round %d: %+v", i, end)
		}
	}
	e.CheckLedger(c.Info().ID)
}

func testDriverDies(e *Env) {
	c := e.New()
	for _, how := range []string{"die", "panic"} {
		end := c.Say("private " + how + "\nsay partial\n" + how)
		if end.Error == nil || end.Error.Code != -32603 {
			e.Errorf("%s: got %+v", how, end)
		}
		if strings.Contains(end.Error.Message, "goroutine") {
			e.Error("people are shown a stack")
		}
		if !strings.Contains(c.Transcript(), "partial") {
			e.Error("what it said before is lost")
		}
	}
	if end := c.Say("recall"); end.Stop != session.EndTurn {
		e.Errorf("after it died: %+v", end)
	}
	if !strings.Contains(c.Transcript(), `past: "die" "panic"`) {
		e.Errorf("the new epoch was not given the past:\n%s", c.Transcript())
	}
	// An agent killed from outside, in the middle of a turn it does not end.
	p := c.Send("say here\nwait never")
	c.UntilText("here")
	opened := e.Script.Opened()
	opened[len(opened)-1].Kill()
	if end := c.End(p.Turn); end.Error == nil {
		e.Errorf("killed: %+v", end)
	}
	c.Say("say again")
	e.CheckLedger(c.Info().ID)
}

func testDriverDiesIdle(e *Env) {
	c := e.New()
	c.Say("say one")
	first := e.Script.Opened()[0]
	first.Kill()
	<-first.Closed()
	if end := c.Say("say two"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	if n := len(e.Script.Opened()); n != 2 {
		e.Errorf("%d epochs, want 2", n)
	}
}

func testDriverOpenFails(e *Env) {
	boom := errors.New("no such program")
	e.Script.OpenErr = func(session.OpenRequest) error { return boom }
	n := hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w"}
	if _, err := e.Hub.Create(e.Context(), n); !errors.Is(err, boom) {
		e.Fatalf("create: %v", err)
	}
	if list, _, _ := e.Hub.List(e.Context(), session.Filter{}, "", 10); len(list) != 0 || e.Hub.Active() != 0 {
		e.Errorf("a session is left: %v, %d active", list, e.Hub.Active())
	}
	e.Script.OpenErr = nil
	c := e.New()
	c.Say("die")
	e.Script.OpenErr = func(session.OpenRequest) error {
		return &session.FailureError{Failure: session.Failure{Code: -32000, Message: "log in first"}}
	}
	if end := c.Say("say x"); end.Error == nil || end.Error.Code != -32000 || end.Error.Message != "log in first" {
		e.Errorf("got %+v", end)
	}
	e.Script.OpenErr = nil
	if end := c.Say("say x"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	e.CheckLedger(c.Info().ID)
}

func testCancelIdle(e *Env) {
	c := e.New()
	before := len(e.Read(c.Info().ID))
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if after := len(e.Read(c.Info().ID)); after != before {
		e.Errorf("%d events came of it", after-before)
	}
	if end := c.Say("say x"); end.Stop != session.EndTurn {
		e.Errorf("the next turn was cancelled: %+v", end)
	}
}

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
	if again := send("k1", "wait go\nsay once"); again.Turn != first.Turn || again.Queued || again.Ended != nil {
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
