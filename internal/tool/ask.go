package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxChoices is how many answers a person is offered at most.
const maxChoices = 10

type askUser struct{}

type askUserArgs struct {
	ignored
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

func (askUser) Spec() Spec {
	return Spec{
		Name: "ask_user",
		Description: "Asks the person a question and waits for the answer. Offer choices when the answer is one of a few. " +
			"Ask only what you cannot find out yourself.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"question": {"type": "string"},
				"choices": {
					"type": "array",
					"items": {"type": "string"},
					"maxItems": 10,
					"description": "the possible answers; free text when absent"
				}
			},
			"required": ["question"],
			"additionalProperties": false
		}`),
		Kind: KindOther,
	}
}

func (a askUser) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args askUserArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if strings.TrimSpace(args.Question) == "" {
		return nil, errors.New(`the argument "question" is missing`)
	}
	if err := checkChoices(args.Choices); err != nil {
		return nil, err
	}
	return env.questionCall(a.Spec(), "Ask: ", Question{Text: args.Question, Choices: args.Choices}), nil
}

func checkChoices(choices []string) error {
	if len(choices) == 1 || len(choices) > maxChoices {
		return fmt.Errorf("give 2 to %d choices, or none for free text", maxChoices)
	}
	for i, c := range choices {
		if strings.TrimSpace(c) == "" {
			return fmt.Errorf("choice %d is empty", i+1)
		}
		if slices.Contains(choices[:i], c) {
			return fmt.Errorf("choice %d is there twice", i+1)
		}
	}
	return nil
}

// questionCall makes a call that puts a question to a person.
func (e *Env) questionCall(spec Spec, title string, q Question) *Call {
	return &Call{
		Title:    title + printable.Clip(strings.Join(strings.Fields(q.Text), " "), 120),
		Kind:     KindOther,
		Subject:  e.subject(spec),
		Question: &q,
		Run: func(ctx context.Context, _ Sink) Result {
			if e.Asker == nil {
				return failure(errors.New("nobody is there to answer; decide yourself or stop and say what you need"))
			}
			answer, err := e.Asker.Ask(ctx, q)
			if err != nil {
				return failure(fmt.Errorf("there is no answer: %w", err))
			}
			return Result{Text: "the answer is: " + bound(answer, e.limits().ModelBytes), Content: []Content{{Text: answer}}}
		},
	}
}
