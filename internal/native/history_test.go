package native

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestInterruptedCallsHaveResults reads what processes left that were killed
// between a call and its result, the second of them after the first was gone.
func TestInterruptedCallsHaveResults(t *testing.T) {
	calls := func(ids ...string) model.Message {
		m := model.Message{Role: model.RoleAssistant}
		for _, id := range ids {
			m.Parts = append(m.Parts, model.Part{ToolCall: &model.ToolCall{ID: id, Name: "shell", Input: model.RawJSON("{}")}})
		}
		return m
	}
	results := func(text string, ids ...string) model.Message {
		m := model.Message{Role: model.RoleUser}
		for _, id := range ids {
			m.Parts = append(m.Parts, model.Part{ToolResult: &model.ToolResult{
				CallID: id, IsError: text == noResult, Parts: []model.Part{model.Text(text)},
			}})
		}
		return m
	}
	kept := []model.Message{
		model.UserText("one"), calls("a"), results("done", "a"), calls("b", "c"),
		model.UserText("two"), calls("d"),
	}
	h, err := readHistory(t.Context(), func(_ context.Context, visit func(session.Event) error) error {
		for _, m := range kept {
			body, err := json.Marshal(record{Version: recordVersion, Message: &m})
			if err != nil {
				return err
			}
			if err := visit(session.Event{Kind: session.KindDriverPrivate, Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Message{
		model.UserText("one"), calls("a"), results("done", "a"), calls("b", "c"), results(noResult, "b", "c"),
		model.UserText("two"), calls("d"), results(noResult, "d"),
	}
	if diff := cmp.Diff(want, h.messages); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
