package sessiontest

import (
	"errors"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func storeContracts() []contract {
	return []contract{
		{name: "FullDiskFailsTheTurn", test: testStoreFails},
		{name: "FailedPromptStartsNothing", test: testPromptFails},
		{name: "LostAnswerOfTheStore", test: testStoreLies},
		{name: "StoreFailsAtAnUnknownPrompt", test: testUnknownQueued},
		{name: "CloseWhileTheStoreFails", test: testCloseFailing},
		{name: "TakenOver", test: testTakenOver},
	}
}

// flaky puts a ledger that can fail under the hub.
func flaky(e *Env) *Flaky {
	f := NewFlaky(e.Ledger)
	e.Ledger = f
	e.Restart()
	return f
}

var errFull = errors.New("no space left on device")

func testStoreFails(e *Env) {
	f := flaky(e)
	c := e.New()
	watcher := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	p := c.Send("say kept\nopen a\nwait go\nsay lost\nprivate lost\nask")
	c.UntilKind(session.KindToolCall)
	f.Fail(errFull)
	e.Script.Go("go")
	for _, client := range []*Client{c, watcher} {
		end := client.End(p.Turn)
		if end.Error == nil || end.Error.Code != -32603 || !strings.Contains(end.Error.Message, "no space left") {
			e.Errorf("got %+v", end)
		}
		last := client.Events[len(client.Events)-1]
		if last.Seq != 0 || !strings.Contains(client.Transcript(), "notice") {
			e.Errorf("people were not told:\n%s", client.Transcript())
		}
		if strings.Contains(client.Transcript(), "agent: lost") {
			e.Error("something was shown that is not stored")
		}
	}
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say no")}); !errors.Is(err, errFull) {
		e.Errorf("a prompt meanwhile: %v", err)
	}
	f.Fail(nil)
	if end := c.Say("say on"); end.Stop != session.EndTurn {
		e.Errorf("afterwards: %+v", end)
	}
	e.CheckLedger(c.Info().ID)
	watcher.CatchUp(c.Cursor)
	if strings.Count(watcher.Transcript(), "end: ") != 2 {
		e.Errorf("the watcher saw:\n%s", watcher.Transcript())
	}
	if n := len(e.Script.Opened()); n != 2 {
		e.Errorf("%d epochs, want 2: a driver must not remember what was never stored", n)
	}
	e.Restart()
	l := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer, Replay: session.ReplayAfter})
	if end := l.End(p.Turn); end.Error == nil {
		e.Errorf("in the ledger the turn ended %+v", end)
	}
}

func testPromptFails(e *Env) {
	f := flaky(e)
	c := e.New()
	for _, how := range []error{errFull, errFull, ErrDead, ErrDead, errFull} {
		f.Fail(how)
		if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say no"), Key: "k"}); !errors.Is(err, how) {
			e.Errorf("got %v, want %v", err, how)
		}
	}
	f.Fail(nil)
	p, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say yes"), Key: "k"})
	if err != nil || p.Ended != nil {
		e.Fatalf("%+v, %v", p, err)
	}
	c.End(p.Turn)
	if got := e.Script.Seen(); len(got) != 1 || got[0] != "say yes" {
		e.Errorf("the driver saw %q", got)
	}
	e.CheckLedger(c.Info().ID)
}

// testStoreLies reports a failure for what was written.
func testStoreLies(e *Env) {
	f := flaky(e)
	c := e.New()
	p := c.Send("say kept\nwait go\nsay written")
	c.UntilText("kept")
	f.Fail(ErrLost)
	e.Script.Go("go")
	if end := c.End(p.Turn); end.Error == nil {
		e.Errorf("got %+v", end)
	}
	f.Fail(nil)
	if end := c.Say("say after"); end.Stop != session.EndTurn {
		e.Errorf("afterwards: %+v", end)
	}
	if !strings.Contains(c.Transcript(), "written") {
		e.Errorf("what was written is not shown:\n%s", c.Transcript())
	}
	e.CheckLedger(c.Info().ID)
}

// testUnknownQueued has a prompt in the queue whose content is not known, since
// the store wrote it and said it did not; its end cannot be written at first.
func testUnknownQueued(e *Env) {
	f := flaky(e)
	c := e.New()
	p := c.Send("wait never")
	f.Fail(ErrLost)
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say unknown")}); !errors.Is(err, ErrLost) {
		e.Fatalf("got %v", err)
	}
	c.End(p.Turn)
	f.FailAfter(1, errFull)
	q := c.Send("say queued")
	if _, err := e.Hub.Status(e.Context(), c.Info().ID); err != nil { // the session still answers
		e.Error(err)
	}
	f.Fail(nil)
	if end := c.Say("say on"); end.Stop != session.EndTurn {
		e.Errorf("afterwards: %+v", end)
	}
	c.End(q.Turn)
	if got := e.Script.Seen(); slices.Contains(got, "say unknown") {
		e.Errorf("a prompt was run that its client was told had failed: %q", got)
	}
	e.CheckLedger(c.Info().ID)
}

// testCloseFailing closes a session whose store is gone: every prompt is
// answered all the same, and the ledger has their ends once it works again.
func testCloseFailing(e *Env) {
	f := flaky(e)
	c := e.New()
	p, q := c.Send("wait never"), c.Send("say queued")
	f.Fail(errFull)
	if err := e.Hub.Close(e.Context(), c.Info().ID); err != nil {
		e.Errorf("close: %v", err)
	}
	c.Drain()
	for _, turn := range []string{p.Turn, q.Turn} {
		if end := c.End(turn); end.Error == nil {
			e.Errorf("got %+v", end)
		}
	}
	f.Fail(nil)
	e.Join(c.Info().ID, Approver(session.ReplayNone))
	e.CheckLedger(c.Info().ID)
}

func testTakenOver(e *Env) {
	c := e.New()
	id := c.Info().ID
	first := e.Hub
	p, q := c.Send("say one\nwait go\nsay two"), c.Send("say queued")
	c.UntilText("one")
	e.Restart()
	e.Join(id, Approver(session.ReplayNone))
	e.Script.Go("go")
	for {
		if err := c.Step(e.Context()); err != nil {
			if !errors.Is(err, session.ErrFenced) {
				e.Errorf("next: %v, want ErrFenced", err)
			}
			break
		}
	}
	if strings.Contains(c.Transcript(), "two") {
		e.Error("an instance that lost the session went on showing")
	}
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say x")}); !errors.Is(err, session.ErrNotActive) {
		e.Errorf("prompt: %v, want ErrNotActive", err)
	}
	if first.Active() != 0 {
		e.Errorf("%d sessions are active", first.Active())
	}
	for _, turn := range []string{p.Turn, q.Turn} {
		if end := c.End(turn); end.Error == nil || string(end.Error.Data) != `{"reason":"interrupted"}` {
			e.Errorf("the prompt was answered %+v", end)
		}
	}
	e.CheckLedger(id)
}
