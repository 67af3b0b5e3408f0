package tool

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// failure is the result of a call that went wrong.
func failure(err error) Result { return Result{Text: err.Error(), IsError: true} }

// raw encodes structured output. Its values are of our own plain types.
func raw(v any) jsontext.Value {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil // output without structure is still output
	}
	return b
}
