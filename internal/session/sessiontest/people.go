package sessiontest

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func peopleContracts() []contract {
	expiring := hub.Limits{Limits: actor.Limits{Ask: 20 * time.Millisecond}}
	patient := hub.Limits{Limits: actor.Limits{AskGrace: time.Hour}}
	return []contract{
		{name: "FirstValidAnswerWins", test: testFirstAnswer},
		{name: "LateClientsGetOpenRequests", test: testLateClient},
		{name: "OnlyApproversAnswer", test: testObserver},
		{name: "NobodyCanAnswer", test: testNobody},
		{name: "NobodyYet", limits: patient, test: testNobodyYet},
		{name: "LastApproverLeaves", test: testApproverLeaves},
		{name: "P10_Expiry", limits: expiring, test: testExpiry},
		{name: "TurnEndsWithARequestOpen", test: testLeftOpen},
		{name: "Elicitation", test: testElicitation},
		{name: "RolesAreKept", test: testRoles},
		{name: "PrompterSetsNoMode", test: testPrompterSetsNoMode},
	}
}

// verdictOf decodes the next verdict a client sees.
func verdictOf(c *Client) session.Verdict {
	c.T.Helper()
	var v session.Verdict
	if err := json.Unmarshal(c.UntilKind(session.KindVerdict).Body, &v); err != nil {
		c.T.Fatal(err)
	}
	return v
}

// testFirstAnswer lets many approvers answer at once: one counts.
func testFirstAnswer(e *Env) {
	c := e.New()
	clients := []*Client{c}
	for range 7 {
		clients = append(clients, e.Join(c.Info().ID, Approver(session.ReplayNone)))
	}
	p := c.Send("ask")
	request := ""
	for _, client := range clients {
		request = client.UntilKind(session.KindPermission).ID
	}
	counted := make([]bool, len(clients))
	var wg sync.WaitGroup
	for i, client := range clients {
		wg.Go(func() {
			option := []string{"yes", "no"}[i%2]
			counted[i], _ = client.Answer(e.Context(), session.Verdict{Request: request, Outcome: session.Selected, Option: option})
		})
	}
	wg.Wait()
	winner := -1
	for i, ok := range counted {
		if ok && winner >= 0 {
			e.Fatalf("the answers of %d and %d counted", winner, i)
		}
		if ok {
			winner = i
		}
	}
	if winner < 0 {
		e.Fatal("no answer counted")
	}
	for _, client := range clients {
		v := verdictOf(client)
		want := session.Verdict{Request: v.Request, Outcome: session.Selected, Option: "yes", By: clients[winner].ID(), Owner: "local"}
		if winner%2 == 1 {
			want.Outcome, want.Option = session.Declined, "no"
		}
		if d := cmp.Diff(want, v); d != "" {
			e.Error(d)
		}
	}
	c.End(p.Turn)
	e.CheckLedger(c.Info().ID)
}

func testLateClient(e *Env) {
	c := e.New()
	p := c.Send("ask")
	ev := c.UntilKind(session.KindPermission)
	for _, replay := range []session.Replay{session.ReplayNone, session.ReplayHistory, session.ReplayAfter} {
		late := e.Join(c.Info().ID, Approver(replay))
		open := late.Open()
		if len(open) != 1 || open[0].ID != ev.ID || !cmp.Equal(open[0].Options, []string{"yes", "no"}) || open[0].Turn != p.Turn {
			e.Errorf("open requests are %+v", open)
		}
		late.CatchUp(late.Start())
		for _, seen := range late.Events {
			if seen.Kind == session.KindPermission {
				e.Error("the open request was shown as well")
			}
		}
	}
	late := e.Join(c.Info().ID, Approver(session.ReplayNone))
	ok, err := late.Answer(e.Context(), session.Verdict{Request: late.Open()[0].ID, Outcome: session.Selected, Option: "yes"})
	if !ok || err != nil {
		e.Errorf("its answer: %v, %v", ok, err)
	}
	c.UntilText("ask selectedyes")
	after := e.Join(c.Info().ID, Approver(session.ReplayAfter))
	if n := len(after.Open()); n != 0 {
		e.Errorf("%d requests are open after the verdict", n)
	}
	after.CatchUp(after.Start())
	if strings.Contains(after.Transcript(), "permission") {
		e.Error("a settled request was offered")
	}
	c.End(p.Turn)
}

func testObserver(e *Env) {
	c := e.New()
	prompter := e.Join(c.Info().ID, session.AttachRequest{Role: session.Prompter, Answers: both})
	deaf := e.Join(c.Info().ID, session.AttachRequest{Role: session.Approver, Answers: []session.Kind{session.KindElicitation}})
	p := c.Send("ask")
	ev := c.UntilKind(session.KindPermission)
	yes := session.Verdict{Request: ev.ID, Outcome: session.Selected, Option: "yes"}
	if ok, err := prompter.Answer(e.Context(), yes); ok || !errors.Is(err, session.ErrRole) {
		e.Errorf("a prompter's answer: %v, %v", ok, err)
	}
	if ok, err := deaf.Answer(e.Context(), yes); ok || err != nil {
		e.Errorf("an answer from one not offered: %v, %v", ok, err)
	}
	if ok, _ := c.Answer(e.Context(), session.Verdict{Request: "e_other", Outcome: session.Selected, Option: "yes"}); ok {
		e.Error("an answer to an unknown request counted")
	}
	if ok, _ := c.Answer(e.Context(), session.Verdict{Request: ev.ID, Outcome: session.Selected, Option: "no"}); !ok {
		e.Error("a rejection did not count")
	}
	if c.UntilText("ask"); !strings.Contains(c.Transcript(), "ask declinedno") {
		e.Errorf("the driver heard:\n%s", c.Transcript())
	}
	c.End(p.Turn)
}

func testNobody(e *Env) {
	c := e.NewFor(hub.NewSession{Attach: session.AttachRequest{Role: session.Prompter, Answers: both}})
	if e.Script.Opened()[0].Req.Sink.CanAsk(session.KindPermission) {
		e.Error("somebody could answer")
	}
	p := c.Send("ask\nelicit")
	c.End(p.Turn)
	got := c.Transcript()
	for _, want := range []string{"agent: ask withdrawn " + ask.NobodyAble, "agent: elicit withdrawn " + ask.NobodyAble} {
		if !strings.Contains(got, want) {
			e.Errorf("%q is not in:\n%s", want, got)
		}
	}
	e.CheckLedger(c.Info().ID)
}

func testNobodyYet(e *Env) {
	c := e.NewFor(hub.NewSession{Attach: session.AttachRequest{Role: session.Prompter}})
	p := c.Send("ask")
	c.UntilKind(session.KindPermission)
	late := e.Join(c.Info().ID, Approver(session.ReplayNone))
	if ok, err := late.Answer(e.Context(), session.Verdict{Request: late.Open()[0].ID, Outcome: session.Selected, Option: "yes"}); !ok || err != nil {
		e.Errorf("%v, %v", ok, err)
	}
	c.UntilText("ask selectedyes")
	c.End(p.Turn)
}

func testApproverLeaves(e *Env) {
	c := e.New()
	watcher := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	p := c.Send("ask")
	c.UntilKind(session.KindPermission)
	c.Detach()
	if v := verdictOf(watcher); v.Outcome != session.Withdrawn || v.Reason != ask.NobodyAble {
		e.Errorf("got %+v", v)
	}
	if end := watcher.End(p.Turn); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
}

func testExpiry(e *Env) {
	c := e.New()
	p := c.Send("ask")
	v := verdictOf(c) // a slow client is not shown the request any more
	if v.Outcome != session.Withdrawn || v.Reason != ask.Expired || v.By != "" {
		e.Errorf("got %+v", v)
	}
	if ok, _ := c.Answer(e.Context(), session.Verdict{Request: v.Request, Outcome: session.Selected, Option: "yes"}); ok {
		e.Error("an answer after expiry counted")
	}
	c.UntilText("ask withdrawn expired")
	c.End(p.Turn)
}

func testLeftOpen(e *Env) {
	c := e.New()
	p := c.Send("leave")
	request := c.UntilKind(session.KindPermission)
	e.Script.Go("left")
	if v := verdictOf(c); v.Request != request.ID || v.Outcome != session.Withdrawn || v.Reason != ask.TurnOver {
		e.Errorf("got %+v", v)
	}
	c.End(p.Turn)
	e.CheckLedger(c.Info().ID)
}

func testElicitation(e *Env) {
	c := e.New()
	p := c.Send("elicit\nelicit\nelicit")
	for _, tt := range []struct {
		answer session.Verdict
		want   string
	}{
		{session.Verdict{Outcome: session.Accepted}, "elicit accepted"},
		{session.Verdict{Outcome: session.Declined}, "elicit declined"},
		{session.Verdict{Outcome: session.Withdrawn, Reason: "dismissed"}, "elicit withdrawn dismissed"},
	} {
		tt.answer.Request = c.UntilKind(session.KindElicitation).ID
		if ok, err := c.Answer(e.Context(), tt.answer); !ok || err != nil {
			e.Errorf("%+v: %v, %v", tt.answer, ok, err)
		}
		c.UntilText(tt.want)
	}
	c.End(p.Turn)
}

func testRoles(e *Env) {
	c := e.New()
	o := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	_, prompt := o.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say x")})
	_, _, steer := o.Steer(e.Context(), Blocks("say x"))
	_, set := o.Set(e.Context(), "model", "x")
	for name, err := range map[string]error{
		"prompt": prompt, "steer": steer, "set": set, "cancel": o.Cancel(e.Context()),
		"record": o.Record(e.Context(), Params("s", `{"sessionUpdate":"x"}`)),
	} {
		if !errors.Is(err, session.ErrRole) {
			e.Errorf("an observer's %s: %v, want ErrRole", name, err)
		}
	}
}

// testPrompterSetsNoMode: a mode answers what approvers are asked.
func testPrompterSetsNoMode(e *Env) {
	c := e.New()
	prompter := e.Join(c.Info().ID, session.AttachRequest{Role: session.Prompter})
	for _, option := range []string{"mode", "not-offered"} {
		if _, err := prompter.Set(e.Context(), option, "full"); !errors.Is(err, session.ErrRole) {
			e.Errorf("a prompter sets %s: %v, want ErrRole", option, err)
		}
	}
	if strings.Contains(string(c.Setup().ConfigOptions), "full") {
		e.Errorf("it is set: %s", c.Setup().ConfigOptions)
	}
	if _, err := prompter.Set(e.Context(), "model", "m2"); err != nil {
		e.Errorf("a prompter chooses a model: %v", err)
	}
	if _, err := c.Set(e.Context(), "mode", "full"); err != nil {
		e.Errorf("an approver sets a mode: %v", err)
	}
}
