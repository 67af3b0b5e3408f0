package mcp

import (
	"encoding/json" // what the SDK decodes schemas to
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSchema is the longest input schema offered to a model, in bytes.
const maxSchema = 64 << 10

// emptySchema takes any object.
const emptySchema = `{"properties":{},"type":"object"}`

// safeSchema makes a schema one that model providers take: an object at the top
// with properties, and no alternatives there. What it says of the properties
// stays as it is where it is sound; else they keep only what they are called and
// described as, for a provider refuses every request that has one bad schema.
// False says that it cannot be offered: it is too long, or has a property of a
// name that providers refuse.
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
	properties, ok := safe["properties"].(map[string]any)
	if !ok {
		properties = alternatives(top)
		safe["properties"] = properties
	}
	if _, ok := safe["required"].([]any); !ok {
		delete(safe, "required")
	}
	if !namesTaken(properties) {
		return nil, false
	}
	if !soundSchema(safe) {
		safe = plainSchema(safe, properties)
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

// plainSchema is a schema that says of properties only what they are for.
func plainSchema(top, properties map[string]any) map[string]any {
	plain := make(map[string]any, len(properties))
	for name, v := range properties {
		p, _ := v.(map[string]any)
		plain[name] = described(p)
	}
	safe := described(top)
	safe["type"], safe["properties"] = "object", plain
	if required := namesIn(top["required"], plain); len(required) > 0 {
		safe["required"] = required
	}
	return safe
}

// described is what a schema says in words, and nothing else.
func described(schema map[string]any) map[string]any {
	said := make(map[string]any)
	if text, ok := schema["description"].(string); ok {
		said["description"] = text
	}
	return said
}

// namesIn are the names of a list that are those of properties, each once.
func namesIn(list any, properties map[string]any) []string {
	var names []string
	all, _ := list.([]any)
	for _, v := range all {
		name, _ := v.(string)
		if _, there := properties[name]; there && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
