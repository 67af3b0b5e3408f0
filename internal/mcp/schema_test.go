package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSafeSchema(t *testing.T) {
	for in, want := range map[string]string{
		`null`:   emptySchema,
		`true`:   emptySchema,
		`"text"`: emptySchema,
		`{}`:     emptySchema,
		`{"type":"object","properties":{"b":{"type":"string"},"a":{"$ref":"#/$defs/x"}},"required":["a"],"$defs":{"x":{}},"additionalProperties":false}`: `{"$defs":{"x":{}},"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/x"},"b":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"$schema":"x","type":["object","null"],"properties":null,"required":null}`:                                                                     emptySchema,
		`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{}}},7]}`:                                                  `{"properties":{"a":{"type":"string"},"b":{}},"type":"object"}`,
		`{"type":"array","items":{}}`: `{"items":{},"properties":{},"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if got, ok := safeSchema(v); !ok || string(got) != want {
			t.Errorf("%s became %s, not %s", in, got, want)
		}
	}
	long := map[string]any{"description": strings.Repeat("x", maxSchema)}
	if _, ok := safeSchema(long); ok {
		t.Error("a schema that is too long is offered")
	}
}
