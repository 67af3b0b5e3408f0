package transcript

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestCalls(t *testing.T) {
	events := updates(
		`tool_call "toolCallId":"c1","name":"shell","title":"`+"`make`"+`","status":"pending","rawInput":{"command":"make"}`,
		`agent_message_chunk "content":{"type":"text","text":"x"}`,
		`tool_call_update "toolCallId":"c1","status":"in_progress"`,
		`tool_call_update "toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"done"}}]`,
		`tool_call "toolCallId":"c2","title":"odd","rawInput":null,"status":7`,
		`tool_call_update "toolCallId":"c2","status":"failed","content":"x"`,
		`tool_call "title":"no id"`,
	)
	ask := session.Event{ID: "e_ask", Kind: session.KindPermission, Body: jsontext.Value(`{"toolCall":{"toolCallId":"c1"},"options":[]}`)}
	other := session.Event{ID: "e_other", Kind: session.KindPermission, Body: jsontext.Value(`{"toolCall":{"toolCallId":"c9"}}`)}
	yes := session.Event{Kind: session.KindVerdict, Body: jsontext.Value(`{"request":"e_ask","outcome":"selected","option":"allow-once","by":"a_1"}`)}
	stray := session.Event{Kind: session.KindVerdict, Body: jsontext.Value(`{"request":"e_other","outcome":"declined"}`)}
	events = append(events[:1:1], append([]session.Event{ask, other, yes, stray}, events[1:]...)...)
	var calls Calls
	for _, e := range events {
		calls.Add(e)
	}
	want := []Call{
		{
			ID: "c1", Tool: "shell", Title: "`make`", Input: jsontext.Value(`{"command":"make"}`), Asked: true,
			Verdict: session.Verdict{Request: "e_ask", Outcome: session.Selected, Option: "allow-once", By: "a_1"},
			Ran:     true, Status: "completed", Said: "done",
		},
		{ID: "c2", Title: "odd", Input: jsontext.Value("null"), Status: "failed"},
	}
	if diff := cmp.Diff(want, calls.List()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzCalls: whatever an agent writes into its updates, reading them ends.
func FuzzCalls(f *testing.F) {
	f.Add([]byte(`{"update":{"sessionUpdate":"tool_call","toolCallId":"c"}}`), []byte(`{"toolCall":{"toolCallId":"c"}}`))
	f.Fuzz(func(t *testing.T, update, ask []byte) {
		var calls Calls
		calls.Add(session.Event{Kind: session.KindToolCall, Body: update})
		calls.Add(session.Event{ID: "e", Kind: session.KindPermission, Body: ask})
		calls.Add(session.Event{Kind: session.KindVerdict, Body: []byte(`{"request":"e","outcome":"selected"}`)})
		for _, c := range calls.List() {
			if c.ID == "" || c.Asked != (c.Verdict.Outcome == session.Selected) {
				t.Errorf("%+v", c)
			}
		}
	})
}
