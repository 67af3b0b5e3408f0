package tool

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type escalate struct{}

type escalateArgs struct {
	ignored
	Reason string `json:"reason"`
}

func (escalate) Spec() Spec {
	return Spec{
		Name: "escalate_to_human",
		Description: "Hands the matter to a person and waits for what they say. Use it when you are stuck, when something looks " +
			"dangerous or wrong, or when a decision is not yours to make.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"reason": {"type": "string", "description": "what is wrong, what you tried, and what you need"}
			},
			"required": ["reason"],
			"additionalProperties": false
		}`),
		Kind: KindOther,
	}
}

func (e escalate) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args escalateArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if strings.TrimSpace(args.Reason) == "" {
		return nil, errors.New(`the argument "reason" is missing`)
	}
	return env.questionCall(e.Spec(), "Needs a person: ", Question{Text: args.Reason, Escalation: true}), nil
}
