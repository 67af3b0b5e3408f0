package mcp

import (
	"encoding/json"
	"maps"
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
	for _, name := range []string{"", "a b", "$filter", "größe", "x/y", strings.Repeat("n", 65)} {
		if got, ok := safeSchema(map[string]any{"properties": map[string]any{"good": true, name: map[string]any{}}}); ok {
			t.Errorf("a property %q is offered: %s", name, got)
		}
	}
	long := map[string]any{"description": strings.Repeat("x", maxSchema)}
	if _, ok := safeSchema(long); ok {
		t.Error("a schema that is too long is offered")
	}
}

// What a provider would refuse is reduced to what it takes, and all else stays.
func TestUnsoundSchema(t *testing.T) {
	const reduced = `{"properties":{"good":{"description":"g"},"odd":{}},"required":["good"],"type":"object"}`
	for odd, sound := range map[string]bool{
		`{"type":"string","minLength":2,"pattern":"^(?!x)","format":"uri"}`:                        true,
		`{"type":["string","null"],"enum":["a",null],"default":{},"x-own":1}`:                      true,
		`{"anyOf":[{"$ref":"#/properties/good"},{"type":"array","items":{"$ref":"#"}}]}`:           true,
		`{"type":"object","properties":{"deep":{"type":"number"}},"patternProperties":{"$":true}}`: true,
		`true`:             true,
		`7`:                false,
		`{"type":"strng"}`: false,
		`{"type":[]}`:      false,
		`{"minimum":"1"}`:  false,
		`{"type":"number","exclusiveMinimum":true}`:                      false,
		`{"multipleOf":0}`:                                               false,
		`{"minLength":-1}`:                                               false,
		`{"type":"array","items":[{"type":"string"}]}`:                   false,
		`{"anyOf":[]}`:                                                   false,
		`{"properties":[]}`:                                              false,
		`{"properties":{"a":{"type":7}}}`:                                false,
		`{"properties":{"not a name":{}}}`:                               false,
		`{"required":"a"}`:                                               false,
		`{"required":["a","a"]}`:                                         false,
		`{"dependentRequired":{"a":"b"}}`:                                false,
		`{"enum":[]}`:                                                    false,
		`{"uniqueItems":1}`:                                              false,
		`{"description":{}}`:                                             false,
		`{"$ref":"#/$defs/missing"}`:                                     false,
		`{"$ref":"#/properties/good/description"}`:                       false,
		`{"$ref":"https://example.com/schema.json"}`:                     false,
		`{"$ref":"file:///etc/passwd"}`:                                  false,
		`{"$id":"https://example.com/schema.json"}`:                      false,
		strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100): false,
	} {
		in := `{"type":"object","properties":{"good":{"type":"string","description":"g"},"odd":` + odd + `},"required":["good"]}`
		var v map[string]any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		whole, err := json.Marshal(maps.Clone(v))
		if err != nil {
			t.Fatal(err)
		}
		want := string(whole)
		if !sound {
			want = reduced
		}
		if got, ok := safeSchema(v); !ok || string(got) != want {
			t.Errorf("%s became %s, not %s", in, got, want)
		}
	}
	worse := map[string]any{"properties": map[string]any{"a": 7}, "required": []any{"a", 7, "a", "b"}, "additionalProperties": "no", "description": 7}
	if got, ok := safeSchema(worse); !ok || string(got) != `{"properties":{"a":{}},"required":["a"],"type":"object"}` {
		t.Errorf("it became %s", got)
	}
}

func FuzzSafeSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"anyOf":[true]}}}`)
	f.Add(`{"properties":{"a":{"$ref":"#/properties/a/anyOf/0","anyOf":[{"type":["null"]}]}},"required":["a"]}`)
	f.Fuzz(func(t *testing.T, in string) {
		var v any
		if json.Unmarshal([]byte(in), &v) != nil {
			return
		}
		got, ok := safeSchema(v)
		if !ok {
			return
		}
		var safe map[string]any
		if err := json.Unmarshal(got, &safe); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		properties, _ := safe["properties"].(map[string]any)
		if !soundSchema(safe) || properties == nil || !namesTaken(properties) {
			t.Errorf("%s is offered", got)
		}
	})
}
