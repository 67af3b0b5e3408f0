package native

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// choicePrefix names the options of a question put as a permission request.
const choicePrefix = "choice-"

// asker puts a tool's question to the people attached: by elicitation where a
// client has it, else as the options of a permission request.
type asker struct{ *running }

// Ask implements tool.Asker.
func (a asker) Ask(ctx context.Context, q tool.Question) (string, error) {
	if a.sink.CanAsk(session.KindElicitation) {
		return a.elicit(ctx, q)
	}
	if len(q.Choices) == 0 {
		return "", errors.New("this client cannot take a free answer: give choices, or put the question in your reply")
	}
	return a.choose(ctx, q)
}

// elicit asks by a form with one field (ACP elicitation/create).
func (a asker) elicit(ctx context.Context, q tool.Question) (string, error) {
	field := map[string]any{"type": "string", "title": "Answer"}
	if len(q.Choices) > 0 {
		field["enum"] = q.Choices
	}
	body, err := json.Marshal(map[string]any{
		"sessionId": a.id, "toolCallId": a.shown, "mode": "form", "message": q.Text,
		"requestedSchema": map[string]any{
			"type": "object", "properties": map[string]any{"answer": field}, "required": []string{"answer"},
		},
	}, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	v, err := a.sink.Ask(ctx, session.KindElicitation, jsontext.Value(body))
	if err != nil {
		return "", err
	}
	if v.Outcome != session.Accepted {
		return "", unanswered(v)
	}
	var content struct {
		Answer string `json:"answer"`
	}
	if err := json.Unmarshal(v.Content, &content); err != nil || content.Answer == "" {
		return "", errors.New("the answer came back empty")
	}
	return content.Answer, nil
}

// choose asks by the options of a permission request; nothing is permitted by
// the answer but the answer.
func (a asker) choose(ctx context.Context, q tool.Question) (string, error) {
	call := toolUpdate{ID: a.shown, Title: q.Text, Name: a.wish.Name, ToolKind: tool.KindOther, Status: statusPending}
	p := permissionParams{SessionID: a.id, ToolCall: call}
	for i, c := range q.Choices {
		p.Options = append(p.Options, permissionOption{choicePrefix + strconv.Itoa(i), c, "allow_once"})
	}
	p.Options = append(p.Options, permissionOption{optionRejectOnce, "No answer", "reject_once"})
	body, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	v, err := a.sink.Ask(ctx, session.KindPermission, jsontext.Value(body))
	if err != nil {
		return "", err
	}
	number, chosen := strings.CutPrefix(v.Option, choicePrefix)
	i, err := strconv.Atoi(number)
	if v.Outcome != session.Selected || !chosen || err != nil || i >= len(q.Choices) {
		return "", unanswered(v)
	}
	return q.Choices[i], nil
}

func unanswered(v session.Verdict) error {
	if v.Outcome == session.Withdrawn {
		return fmt.Errorf("nobody answered (%s); this was not a person's decision", whyUnanswered(v.Reason))
	}
	return errors.New("the user declined to answer")
}
