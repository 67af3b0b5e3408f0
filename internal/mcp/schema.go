package mcp

import (
	"encoding/json" // what the SDK decodes schemas to

	"github.com/go-json-experiment/json/jsontext"
)

// maxSchema is the longest input schema offered to a model, in bytes.
const maxSchema = 64 << 10

// emptySchema takes any object.
const emptySchema = `{"properties":{},"type":"object"}`

// safeSchema makes a schema one that model providers take: an object at the top
// with properties, and no alternatives there. What it says of the properties
// stays as it is. False says that it is too long to offer.
func safeSchema(schema any) (jsontext.Value, bool) {
	top, ok := schema.(map[string]any)
	if !ok {
		return jsontext.Value(emptySchema), true
	}
	safe := make(map[string]any, len(top)+2)
	for key, v := range top {
		switch key {
		case "$schema", "$id", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const":
		default:
			safe[key] = v
		}
	}
	safe["type"] = "object"
	if _, ok := safe["properties"].(map[string]any); !ok {
		safe["properties"] = alternatives(top)
	}
	if _, ok := safe["required"].([]any); !ok {
		delete(safe, "required")
	}
	b, err := json.Marshal(safe) // keys sorted, so that providers' caches hold
	if err != nil {
		return jsontext.Value(emptySchema), true
	}
	return b, len(b) <= maxSchema
}

// alternatives gathers the properties that a schema's alternatives name.
func alternatives(top map[string]any) map[string]any {
	all := map[string]any{}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := top[key].([]any)
		for _, v := range list {
			branch, _ := v.(map[string]any)
			properties, _ := branch["properties"].(map[string]any)
			for name, p := range properties {
				if _, taken := all[name]; !taken {
					all[name] = p
				}
			}
		}
	}
	return all
}
