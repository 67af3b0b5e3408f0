package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

var _ session.Commander = (*ScriptHandle)(nil)

// Command implements session.Commander.
func (h *ScriptHandle) Command(content []jsontext.Value) (session.Command, bool) {
	verb, rest, _ := strings.Cut(Text(content), " ")
	switch verb {
	case "/turn":
		return session.Command{}, true
	case "/echo", "/halt", "/broken", "/panic":
		return session.Command{Run: func(_ context.Context, by session.Commanding) (session.CommandDone, error) {
			return runScripted(verb, rest, by)
		}}, true
	}
	return session.Command{}, false
}

func runScripted(verb, rest string, by session.Commanding) (session.CommandDone, error) {
	switch verb {
	case "/broken":
		return session.CommandDone{}, errors.New("it is broken")
	case "/panic":
		panic("command")
	}
	text := fmt.Sprintf("%s: running %v, %d wait, role %s", rest, by.Status.Running, by.Status.Queued, by.Role)
	return session.CommandDone{Text: text, Stop: verb == "/halt"}, nil
}

func commandContracts() []contract {
	with := func(c actor.Concurrent) hub.Limits { return hub.Limits{Limits: actor.Limits{Concurrent: c}} }
	return []contract{
		{name: "CommandsRunBesideATurn", test: testBeside},
		{name: "CommandsRunBesideATurnWhereOthersAreRefused", limits: with(actor.Reject), test: testBeside},
		{name: "CommandsAreNoAdditionToATurn", limits: with(actor.Steer), test: testCommandsAndSteering},
		{name: "ACommandStopsEverything", test: testHalt},
		{name: "CommandsThatFail", test: testCommandFails},
		{name: "CommandsWhenTheStoreComesBack", test: testBesideRestart},
	}
}

func testBeside(e *Env) {
	c := e.New()
	running := c.Send("wait go\nsay done")
	e.Script.UntilSeen(1)
	prompt := session.PromptRequest{Content: Blocks("/echo hello"), Key: "k", Exclusive: true}
	beside, err := c.Prompt(e.Context(), prompt)
	if err != nil || beside.Queued || beside.Turn == running.Turn {
		e.Fatalf("got %+v, %v", beside, err)
	}
	if end := c.End(beside.Turn); end.Stop != session.EndTurn {
		e.Errorf("it ended with %+v", end)
	}
	again, err := c.Prompt(e.Context(), prompt)
	if err != nil || !again.Repeat || again.Turn != beside.Turn || again.Ended == nil {
		e.Errorf("the repeat: %+v, %v", again, err)
	}
	if s, err := e.Hub.Status(e.Context(), c.Info().ID); err != nil || s.Turn != running.Turn {
		e.Errorf("status %+v, %v", s, err)
	}
	e.Script.Go("go")
	c.End(running.Turn)
	want := "epoch\nturn_start\nuser: wait go\nsay done\nuser: /echo hello\n" +
		"agent: hello: running true, 0 wait, role approver\nend: end_turn\nagent: done\nend: end_turn\n"
	if d := cmp.Diff(want, Transcript(e.Read(c.Info().ID))); d != "" {
		e.Error(d)
	}
	e.CheckLedger(c.Info().ID)
}

// testCommandsAndSteering: what is a command is never words in a running turn.
func testCommandsAndSteering(e *Env) {
	c := e.New()
	running := c.Send("wait go")
	e.Script.UntilSeen(1)
	own := c.Send("/turn x")
	if !own.Queued {
		e.Errorf("a command with a turn of its own: %+v", own)
	}
	if p := c.Send("/echo x"); p.Queued || p.Turn == running.Turn {
		e.Errorf("a command beside the turn: %+v", p)
	}
	how, turn, err := c.Steer(e.Context(), Blocks("/echo y"))
	if err != nil || how != session.StartedNewTurn {
		e.Errorf("steered: %v, %v", how, err)
	}
	c.End(turn)
	if how, _, err := c.Steer(e.Context(), Blocks("/turn y")); err != nil || how != session.SteerFailed {
		e.Errorf("steered with what takes a turn: %v, %v", how, err)
	}
	e.Script.Go("go")
	c.UntilText("/turn x")
	c.End(own.Turn)
	if strings.Contains(c.Transcript(), "steered") {
		e.Error(c.Transcript())
	}
	e.CheckLedger(c.Info().ID)
}

func testHalt(e *Env) {
	c := e.New()
	running, queued := c.Send("work w"), c.Send("say never")
	c.UntilKind(session.KindToolCall)
	stopped := c.Send("/halt now")
	for _, turn := range []string{running.Turn, queued.Turn} {
		if end := c.End(turn); end.Stop != session.Cancelled {
			e.Errorf("%s ended with %+v", turn, end)
		}
	}
	if end := c.End(stopped.Turn); end.Stop != session.EndTurn {
		e.Errorf("the command ended with %+v", end)
	}
	c.UntilText("now: running true, 1 wait, role approver")
	if end := c.Say("say next"); end.Stop != session.EndTurn {
		e.Errorf("the next prompt: %+v", end)
	}
	e.CheckLedger(c.Info().ID)
}

func testCommandFails(e *Env) {
	c := e.New()
	running := c.Send("wait go")
	e.Script.UntilSeen(1)
	for _, text := range []string{"/broken", "/panic"} {
		if end := c.End(c.Send(text).Turn); end.Error == nil || strings.Contains(end.Error.Message, "goroutine") {
			e.Errorf("%s ended with %+v", text, end)
		}
	}
	e.Script.Go("go")
	if end := c.End(running.Turn); end.Stop != session.EndTurn {
		e.Errorf("the turn beside which they ran ended with %+v", end)
	}
}

// testBesideRestart: an end beside a turn is not taken for that turn's.
func testBesideRestart(e *Env) {
	c := e.New()
	id := c.Info().ID
	running := c.Send("wait never")
	e.Script.UntilSeen(1)
	c.End(c.Send("/echo x").Turn)
	e.Restart()
	again := e.Join(id, session.AttachRequest{Replay: session.ReplayAfter})
	if end := again.End(running.Turn); end.Reason != "interrupted" {
		e.Errorf("the turn that ran ended with %+v", end)
	}
	e.CheckLedger(id)
}
