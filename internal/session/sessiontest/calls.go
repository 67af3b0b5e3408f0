package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func callContracts() []contract {
	return []contract{
		{name: "E2_CumulativeFramesAreThinned", test: testFrames},
		{name: "NewestFrameComesBeforeTheEnd", test: testLastFrame},
		{name: "T2_UpdateOfAnUnknownCall", test: testUnannounced},
		{name: "ReusedCallIDs", test: testReusedIDs},
		{name: "X6_BurstArrivesWhole", test: testBurst},
		{name: "BodiesAreKeptAsTheyCame", test: testBodies},
		{name: "MalformedEventsAreRefused", test: testMalformed},
	}
}

// testFrames streams a tool's growing output. What is stored stays near the
// final size, and the end comes at once with all of it.
func testFrames(e *Env) {
	const frames, final = 200, 145_000
	c := e.NewFor(hub.NewSession{})
	c.Say(fmt.Sprintf("open a\nframes a %d %d\ndone a", frames, final))
	stored, updates := 0, 0
	events := e.Read(c.Info().ID)
	for _, ev := range events {
		if ev.Kind == session.KindToolUpdate {
			stored += len(ev.Body)
			updates++
		}
	}
	if stored > 3*final || updates < 2 {
		e.Errorf("%d updates of %d bytes are stored, want at most %d bytes", updates, stored, 3*final)
	}
	last := events[len(events)-3 : len(events)-1]
	if !strings.Contains(string(last[0].Body), fmt.Sprintf(`"text":"%d `, frames-1)) {
		e.Errorf("the newest frame is missing before the end: %.200s", last[0].Body)
	}
	if got := Line(last[1]); got != "tool_call_update: a completed" {
		e.Errorf("the call ended with %q", got)
	}
	e.CheckLedger(c.Info().ID)
}

func testLastFrame(e *Env) {
	c := e.New()
	c.Say("open a\nframes a 9 50")
	events := e.Read(c.Info().ID)
	last := events[len(events)-3]
	if !strings.Contains(string(last.Body), `"text":"8 `) {
		e.Errorf("before the inferred end came %s", last.Body)
	}
	e.CheckLedger(c.Info().ID)
}

// testUnannounced lets a driver speak of a call it never announced: it is
// introduced, so that clients which ignore unknown ids show it.
func testUnannounced(e *Env) {
	c := e.New()
	sink := e.Script.Opened()[0].Req.Sink
	c.Say("frames a 1 10\ndone b")
	update := `{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Named \"c\"","status":"completed"}`
	if err := sink.Emit(e.Context(), session.Draft{Version: 1, Body: Params("s", update)}); err != nil {
		e.Fatal(err)
	}
	ev := c.Until(func(ev session.Event) bool {
		return ev.Kind == session.KindToolCall && strings.Contains(string(ev.Body), `"c"`)
	})
	if !strings.Contains(string(ev.Body), `"title":"Named \"c\""`) {
		e.Errorf("it was introduced as %s", ev.Body)
	}
	c.Say("say x")
	want := "tool_call: a pending\ntool_call_update: a in_progress\ntool_call: b pending\ntool_call_update: b completed\n" +
		"tool_call_update: a completed\nend: end_turn\ntool_call: c pending\ntool_call_update: c completed\n"
	if !strings.Contains(c.Transcript(), want) {
		e.Errorf("got\n%s", c.Transcript())
	}
	e.CheckLedger(c.Info().ID)
}

// testReusedIDs lets a driver use one id for every call, as some models do.
func testReusedIDs(e *Env) {
	c := e.New()
	for range 3 {
		c.Say("tool call_1\ntool call_1\nopen call_1")
	}
	ids := map[string]bool{}
	for _, ev := range c.Events {
		if ev.Kind == session.KindToolCall {
			ids[string(ev.Body[ev.Marks.ToolCallID.From:ev.Marks.ToolCallID.To])] = true
		}
	}
	if len(ids) != 9 || !ids[`"call_1"`] {
		e.Errorf("9 calls have the ids %v", ids)
	}
	e.CheckLedger(c.Info().ID)

	id := c.Info().ID
	e.Restart() // the ids of earlier processes are used up too
	c = e.Join(id, Approver(session.ReplayNone))
	c.Say("tool call_1")
	p := c.Send("tool a\nopen a\nask")
	ev := c.UntilKind(session.KindPermission)
	named := string(ev.Body[ev.Marks.ToolCallID.From:ev.Marks.ToolCallID.To])
	call := ""
	for _, seen := range c.Events {
		if seen.Kind == session.KindToolCall {
			call = string(seen.Body[seen.Marks.ToolCallID.From:seen.Marks.ToolCallID.To])
		}
	}
	if named != call || named == `"a"` {
		e.Errorf("the permission names %s, its call is %s", named, call)
	}
	if _, err := c.Answer(e.Context(), session.Verdict{Request: ev.ID, Outcome: session.Selected, Option: "yes"}); err != nil {
		e.Error(err)
	}
	c.End(p.Turn)
	e.CheckLedger(id)
}

func testBurst(e *Env) {
	const n = 20_000
	c := e.New()
	late := e.Join(c.Info().ID, Approver(session.ReplayNone))
	c.Say(fmt.Sprintf("chunks %d", n))
	late.CatchUp(c.Cursor)
	for _, client := range []*Client{c, late} {
		next := 0
		for _, ev := range client.Events {
			if ev.Kind != session.KindAgentMessage {
				continue
			}
			if got := TextOf(ev); got != fmt.Sprintf("%d ", next) {
				e.Fatalf("chunk %d is %q", next, got)
			}
			next++
		}
		if next != n {
			e.Errorf("%d chunks came, want %d", next, n)
		}
	}
}

// testBodies checks that bytes a driver made are what everybody sees: unknown
// fields, kinds, order and spacing.
func testBodies(e *Env) {
	c := e.New()
	sink := e.Script.Opened()[0].Req.Sink
	bodies := []string{
		`{ "update" : {"sessionUpdate":"a_kind_of_the_future","x":[1, 2.50,1e3]} ,"sessionId":"s"}`,
		`{"sessionId":"s","update":{"content":{"type":"text","text":"\u00e9\/"},"sessionUpdate":"agent_message_chunk"},"_meta":{"z":1,"a":{}}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]},"future":null}`,
	}
	for _, b := range bodies {
		if err := sink.Emit(e.Context(), session.Draft{Version: 1, Body: jsontext.Value(b)}); err != nil {
			e.Fatal(err)
		}
	}
	c.Say("say x")
	again := e.Join(c.Info().ID, Approver(session.ReplayHistory))
	again.CatchUp(again.Start())
	for name, client := range map[string]*Client{"live": c, "load": again} {
		var got []string
		for _, ev := range client.Events {
			if ev.Turn == "" {
				got = append(got, string(ev.Body))
			}
		}
		if d := cmp.Diff(bodies, got); d != "" {
			e.Errorf("%s: %s", name, d)
		}
	}
}

func testMalformed(e *Env) {
	c := e.New()
	sink := e.Script.Opened()[0].Req.Sink
	var invalid *session.InvalidError
	for _, b := range []string{
		``, `{}`, `[]`, `{"sessionId":"s","sessionId":"t","update":{"sessionUpdate":"plan"}}`,
		"{\"update\":{\"sessionUpdate\":\"plan\",\"x\":\"\xff\"}}", `{"update":{"sessionupdate":"plan"}}`,
	} {
		if err := sink.Emit(e.Context(), session.Draft{Version: 1, Body: jsontext.Value(b)}); !errors.As(err, &invalid) {
			e.Errorf("%q: got %v, want an InvalidError", b, err)
		}
	}
	if _, err := sink.Ask(e.Context(), session.KindPermission, jsontext.Value(`{`)); !errors.As(err, &invalid) {
		e.Errorf("ask: got %v, want an InvalidError", err)
	}
	if end := c.Say("say x"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	if err := sink.Emit(context.Background()); err != nil {
		e.Errorf("nothing to record: %v", err)
	}
}
