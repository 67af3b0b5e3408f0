package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxPlan is how many entries a plan may have: it is for a person to read.
const maxPlan = 100

type todo struct{}

type todoArgs struct {
	ignored
	Entries []PlanEntry `json:"entries"`
}

func (todo) Spec() Spec {
	return Spec{
		Name: "todo",
		Description: "Shows the person your plan. Send the whole plan each time; it replaces the last one. " +
			"Use it for work of several steps and keep the statuses current.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"entries": {
					"type": "array",
					"maxItems": 100,
					"items": {
						"type": "object",
						"properties": {
							"content": {"type": "string", "description": "what is to be done"},
							"priority": {"type": "string", "enum": ["high", "medium", "low"], "description": "medium when absent"},
							"status": {"type": "string", "enum": ["pending", "in_progress", "completed"], "description": "pending when absent"}
						},
						"required": ["content"],
						"additionalProperties": false
					}
				}
			},
			"required": ["entries"],
			"additionalProperties": false
		}`),
		Kind: KindThink,
	}
}

func (t todo) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args todoArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if err := checkPlan(args.Entries); err != nil {
		return nil, err
	}
	text := planText(args.Entries)
	return &Call{
		Title:   "Update the plan",
		Kind:    KindThink,
		Subject: env.subject(t.Spec()),
		Run: func(context.Context, Sink) Result {
			return Result{Text: text, Plan: args.Entries, Content: []Content{{Text: text}}}
		},
	}, nil
}

// checkPlan validates entries and fills in what is absent.
func checkPlan(entries []PlanEntry) error {
	if entries == nil {
		return errors.New(`the argument "entries" is missing; send the whole plan, [] to clear it`)
	}
	if len(entries) > maxPlan {
		return fmt.Errorf("the plan has %d entries; %d is the most", len(entries), maxPlan)
	}
	for i := range entries {
		e := &entries[i]
		e.Priority = cmp.Or(e.Priority, "medium")
		e.Status = cmp.Or(e.Status, "pending")
		switch {
		case strings.TrimSpace(e.Content) == "":
			return fmt.Errorf("entry %d has no content", i+1)
		case !slices.Contains([]string{"high", "medium", "low"}, e.Priority):
			return fmt.Errorf("entry %d: priority must be high, medium or low, not %q", i+1, printable.Clip(e.Priority, 40))
		case !slices.Contains([]string{"pending", "in_progress", "completed"}, e.Status):
			return fmt.Errorf("entry %d: status must be pending, in_progress or completed, not %q", i+1, printable.Clip(e.Status, 40))
		}
	}
	return nil
}

func planText(entries []PlanEntry) string {
	done := 0
	for _, e := range entries {
		if e.Status == "completed" {
			done++
		}
	}
	return fmt.Sprintf("the plan has %d entries, %d completed", len(entries), done)
}
