package sessiontest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// Subject is a driver under test, with the prompts that make its agent do what
// a contract needs. Contracts whose prompt is empty are left out.
type Subject struct {
	Driver session.Driver
	Cwd    string
	Say    string // say something, and end
	Tool   string // run a tool or more, and end
	Stall  string // wait for the model until cancelled
	Work   string // run a tool until cancelled
	Ask    string // ask for a permission once, do what was asked about if allowed, and end
	Fail   string // fail the turn
}

// cancelBound is how long a cancelled driver may take before people press stop
// again. The hub gives up after it.
const cancelBound = 2 * time.Second

// RunDriver tests what every driver owes the hub. open makes a fresh one.
func RunDriver(t *testing.T, open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*driven){
		"TurnsEndOnce":        testDriverSays,
		"ToolCallsAreClosed":  testDriverTools,
		"CancelWhileWaiting":  func(d *driven) { testDriverCancel(d, d.subject.Stall, "") },
		"CancelWhileWorking":  func(d *driven) { testDriverCancel(d, d.subject.Work, session.KindToolCall) },
		"CancelAtOnce":        testDriverCancelAtOnce,
		"Permission":          testDriverAsks,
		"PermissionOfNobody":  testDriverAsksNobody,
		"CancelWhileAsking":   func(d *driven) { testDriverCancel(d, d.subject.Ask, session.KindPermission) },
		"FailureIsAnError":    testDriverFails,
		"CloseWhileRunning":   testDriverClose,
		"Restored":            testDriverRestored,
		"UnknownOption":       testDriverOption,
		"SessionsAreApart":    testDriverSessions,
		"ReplayEqualsLive_S3": testDriverReplay,
	} {
		t.Run(name, func(t *testing.T) {
			d := &driven{T: t, subject: open(t)}
			d.hub = hub.New(hub.Options{
				Ledger:  memory.New(),
				Limits:  hub.Limits{Limits: actor.Limits{Settle: cancelBound}},
				Drivers: func(string) (session.Driver, error) { return d.subject.Driver, nil },
			})
			t.Cleanup(func() {
				if err := d.hub.Drain(background()); err != nil {
					t.Error(err)
				}
			})
			test(d)
		})
	}
}

// driven is a hub in front of the driver under test.
type driven struct {
	*testing.T
	subject Subject
	hub     *hub.Hub
}

// need leaves out a contract the subject has no prompt for.
func (d *driven) need(prompt string) string {
	if prompt == "" {
		d.Skip("the driver under test has no prompt for this")
	}
	return prompt
}

func (d *driven) create(answers ...session.Kind) *Client {
	d.Helper()
	a, err := d.hub.Create(d.Context(), hub.NewSession{
		Owner: "local", Agent: "main", Cwd: d.subject.Cwd,
		Attach: session.AttachRequest{Role: session.Approver, Answers: answers},
	})
	if err != nil {
		d.Fatal(err)
	}
	return Pump(d.T, a)
}

// events are what is committed of a session, without the hub's private ones.
func (d *driven) events(c *Client) []session.Event {
	d.Helper()
	var all []session.Event
	err := d.hub.Read(d.Context(), c.Info().ID, 0, func(e session.Event) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// check looks for what a driver must not leave behind.
func (d *driven) check(c *Client, ends int) {
	d.Helper()
	open, known := map[string]bool{}, map[string]bool{}
	turns, running := 0, false
	for _, e := range d.events(c) {
		switch e.Kind {
		case session.KindTurnStart:
			running = true
		case session.KindTurnEnd:
			running = false
			turns++
			if len(open) > 0 {
				d.Errorf("tool calls %v are open when the turn ends", open)
			}
		case session.KindToolCall, session.KindToolUpdate:
			if !running {
				d.Errorf("a %s outside a turn", e.Kind)
			}
			if e.Origin == session.FromHub {
				d.Errorf("the hub had to close a tool call: %s", e.Body)
			}
			checkCall(d.T, e, open, known)
		case session.KindAgentMessage, session.KindAgentThought:
			if !running {
				d.Errorf("said outside a turn: %s", e.Body)
			}
			if e.Marks.MessageID.IsZero() {
				d.Errorf("a chunk has no message id: %s", e.Body)
			}
		}
	}
	if turns != ends {
		d.Errorf("%d turns ended, want %d", turns, ends)
	}
}

func testDriverSays(d *driven) {
	c := d.create()
	for range 3 {
		if end := c.Say(d.need(d.subject.Say)); end.Stop != session.EndTurn || end.Error != nil {
			d.Errorf("got %+v", end)
		}
	}
	if !strings.Contains(c.Transcript(), "agent: ") {
		d.Errorf("nothing was said:\n%s", c.Transcript())
	}
	d.check(c, 3)
}

func testDriverTools(d *driven) {
	c := d.create(both...)
	if end := c.Say(d.need(d.subject.Tool)); end.Stop != session.EndTurn {
		d.Errorf("got %+v", end)
	}
	if !strings.Contains(c.Transcript(), "tool_call: ") {
		d.Errorf("no tool ran:\n%s", c.Transcript())
	}
	d.check(c, 1)
}

// testDriverCancel cancels once the agent is where the contract wants it, and
// prompts again: the driver has stopped by itself, and its epoch goes on.
func testDriverCancel(d *driven, prompt string, at session.Kind) {
	c := d.create(both...)
	p := c.Send(d.need(prompt))
	if at == "" {
		c.UntilKind(session.KindTurnStart)
	} else {
		c.UntilKind(at)
	}
	start := time.Now()
	if err := c.Cancel(d.Context()); err != nil {
		d.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		d.Errorf("got %+v", end)
	}
	if took := time.Since(start); took >= cancelBound {
		d.Errorf("stopping took %v", took)
	}
	d.check(c, 1)
	if d.subject.Say != "" {
		if end := c.Say(d.subject.Say); end.Stop != session.EndTurn {
			d.Errorf("the next turn: %+v", end)
		}
	}
}

func testDriverCancelAtOnce(d *driven) {
	c := d.create()
	for range 20 {
		p := c.Send(d.need(d.subject.Stall))
		if err := c.Cancel(d.Context()); err != nil {
			d.Fatal(err)
		}
		if end := c.End(p.Turn); end.Stop != session.Cancelled {
			d.Fatalf("got %+v", end)
		}
	}
	d.check(c, 20)
}

func testDriverAsks(d *driven) {
	for _, outcome := range []string{"allow", "reject", "broken"} {
		c := d.create(both...)
		p := c.Send(d.need(d.subject.Ask))
		ev := c.UntilKind(session.KindPermission)
		v := session.Verdict{Request: ev.ID, Outcome: session.Selected, Option: optionOf(d.T, ev, outcome)}
		if _, err := c.Answer(d.Context(), v); err != nil {
			d.Fatal(err)
		}
		if end := c.End(p.Turn); end.Error != nil {
			d.Errorf("%s: %+v", outcome, end)
		}
		announced := false
		for _, e := range c.Events {
			announced = announced || e.Kind == session.KindToolCall && marked(e) == marked(ev)
		}
		if !announced {
			d.Errorf("the call %s was asked about before it was announced", marked(ev))
		}
		d.check(c, 1)
	}
}

func marked(e session.Event) string {
	return string(e.Body[e.Marks.ToolCallID.From:e.Marks.ToolCallID.To])
}

// optionOf finds the id of an option whose kind starts with a word.
func optionOf(t *testing.T, e session.Event, word string) string {
	t.Helper()
	for _, o := range optionsOf(e.Body) {
		if strings.HasPrefix(o.Kind, word) {
			return o.ID
		}
	}
	return "no such option"
}

func testDriverAsksNobody(d *driven) {
	c := d.create()
	if end := c.Say(d.need(d.subject.Ask)); end.Error != nil {
		d.Errorf("got %+v", end)
	}
	d.check(c, 1)
}

func testDriverFails(d *driven) {
	c := d.create()
	end := c.Say(d.need(d.subject.Fail))
	if end.Error == nil || end.Error.Message == "" {
		d.Errorf("got %+v", end)
	}
	d.check(c, 1)
	if end := c.Say(d.need(d.subject.Say)); end.Stop != session.EndTurn {
		d.Errorf("the next turn: %+v", end)
	}
}

func testDriverClose(d *driven) {
	c := d.create()
	p := c.Send(d.need(d.subject.Stall))
	c.UntilKind(session.KindTurnStart)
	if err := d.hub.Close(d.Context(), c.Info().ID); err != nil {
		d.Fatal(err)
	}
	c.Drain()
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		d.Errorf("got %+v", end)
	}
}

func testDriverRestored(d *driven) {
	c := d.create()
	c.Say(d.need(d.subject.Say))
	for range 2 {
		id := c.Info().ID
		if err := d.hub.Close(d.Context(), id); err != nil {
			d.Fatal(err)
		}
		a, err := d.hub.Attach(d.Context(), id, session.AttachRequest{Role: session.Approver})
		if err != nil {
			d.Fatal(err)
		}
		c = Pump(d.T, a)
		if end := c.Say(d.subject.Say); end.Stop != session.EndTurn {
			d.Errorf("got %+v", end)
		}
	}
	d.check(c, 3)
}

func testDriverOption(d *driven) {
	c := d.create()
	var invalid *session.InvalidError
	if _, err := c.Set(d.Context(), "no such option", "x"); !errors.As(err, &invalid) {
		d.Errorf("got %v, want an InvalidError", err)
	}
	if end := c.Say(d.need(d.subject.Say)); end.Stop != session.EndTurn {
		d.Errorf("got %+v", end)
	}
}

func testDriverSessions(d *driven) {
	a, b := d.create(), d.create()
	stalled := a.Send(d.need(d.subject.Stall))
	if end := b.Say(d.need(d.subject.Say)); end.Stop != session.EndTurn {
		d.Errorf("the other session: %+v", end)
	}
	if err := a.Cancel(d.Context()); err != nil {
		d.Fatal(err)
	}
	a.End(stalled.Turn)
}

func testDriverReplay(d *driven) {
	c := d.create(both...)
	c.Say(d.need(d.subject.Say))
	if d.subject.Tool != "" {
		c.Say(d.subject.Tool)
	}
	id := c.Info().ID
	if err := d.hub.Close(d.Context(), id); err != nil {
		d.Fatal(err)
	}
	a, err := d.hub.Attach(d.Context(), id, session.AttachRequest{Replay: session.ReplayHistory})
	if err != nil {
		d.Fatal(err)
	}
	l := Pump(d.T, a)
	l.CatchUp(l.Start())
	live, replayed := "", ""
	for _, e := range d.events(c) {
		if e.Retention == session.History {
			live += Line(e) + string(e.Body) + "\n"
		}
	}
	for _, e := range l.Events {
		replayed += Line(e) + string(e.Body) + "\n"
	}
	if live != replayed {
		d.Errorf("live:\n%s\nreplayed:\n%s", live, replayed)
	}
}
