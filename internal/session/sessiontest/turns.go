package sessiontest

import (
	"errors"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
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
		{name: "X2_CancelWhileTheDriverOpens", test: testCancelOpening},
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

// testCancelOpening cancels a prompt whose driver is being started anew.
func testCancelOpening(e *Env) {
	c := e.New()
	c.Say("die")
	release := make(chan struct{})
	e.Script.OpenErr = func(session.OpenRequest) error {
		<-release
		return nil
	}
	p := c.Send("say never")
	if err := c.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		e.Errorf("got %+v", end)
	}
	close(release)
	if end := c.Say("say next"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	if strings.Contains(c.Transcript(), "never") {
		e.Error("the cancelled prompt ran")
	}
	if got := Transcript(e.Read(c.Info().ID)); strings.Count(got, "epoch\n") != 2 {
		e.Errorf("the opening did not go on:\n%s", got)
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
