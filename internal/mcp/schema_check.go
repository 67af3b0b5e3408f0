package mcp

import (
	"math"
	"net/url"
	"strconv"
	"strings"
)

const (
	// maxPropertyName is the longest name of a property that providers take.
	maxPropertyName = 64
	// maxSchemaDepth bounds how deep the schemas in a schema go.
	maxSchemaDepth = 64
)

// namesTaken reports whether providers take all names of properties.
func namesTaken(properties map[string]any) bool {
	for name := range properties {
		if name == "" || len(name) > maxPropertyName || strings.IndexFunc(name, notInName) >= 0 {
			return false
		}
	}
	return true
}

func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.':
		return false
	}
	return true
}

// soundSchema reports whether a schema is one of JSON Schema 2020-12, to which
// providers hold it, and refers to nothing outside of itself.
func soundSchema(top map[string]any) bool { return checker{top}.schema(top, 0) }

// checker checks the schemas within one.
type checker struct{ top map[string]any }

func (c checker) schema(v any, depth int) bool {
	if _, ok := v.(bool); ok {
		return true
	}
	s, ok := v.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return false
	}
	for key, value := range s {
		if !c.keyword(key, value, depth+1) {
			return false
		}
	}
	return true
}

// keyword checks the value of one keyword; those that it does not know are for
// somebody else.
func (c checker) keyword(key string, v any, depth int) bool {
	switch key {
	case "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema":
		return c.schema(v, depth)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list, ok := v.([]any)
		return ok && len(list) > 0 && all(list, func(v any) bool { return c.schema(v, depth) })
	case "properties":
		named, ok := v.(map[string]any)
		return ok && namesTaken(named) && c.named(named, depth)
	case "patternProperties", "$defs", "definitions", "dependentSchemas":
		named, ok := v.(map[string]any)
		return ok && c.named(named, depth)
	case "$ref":
		ref, ok := v.(string)
		return ok && c.leads(ref)
	case "$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary":
		return false // they make it part of something else
	}
	return plainKeyword(key, v)
}

func (c checker) named(schemas map[string]any, depth int) bool {
	for _, v := range schemas {
		if !c.schema(v, depth) {
			return false
		}
	}
	return true
}

// leads reports whether a reference is to a part of this schema.
func (c checker) leads(ref string) bool {
	path, ok := strings.CutPrefix(ref, "#")
	path, err := url.PathUnescape(path)
	if !ok || err != nil || path != "" && path[0] != '/' {
		return false
	}
	var at any = c.top
	for path != "" {
		var step string
		step, path, _ = strings.Cut(path[1:], "/")
		if path != "" {
			path = "/" + path
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return false
			}
			at = v[i]
		default:
			return false
		}
	}
	switch at.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

// plainKeyword checks keywords that hold no schemas.
func plainKeyword(key string, v any) bool {
	switch key {
	case "type":
		list, ok := v.([]any)
		return isType(v) || ok && len(list) > 0 && distinct(list) && all(list, isType)
	case "required":
		list, ok := v.([]any)
		return ok && distinct(list)
	case "enum", "examples":
		list, ok := v.([]any)
		return ok && (len(list) > 0 || key == "examples")
	case "title", "description", "pattern", "format", "$comment", "contentEncoding", "contentMediaType":
		_, ok := v.(string)
		return ok
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		n, ok := v.(float64)
		return ok && n >= 0 && n == math.Trunc(n)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		_, ok := v.(float64)
		return ok
	case "multipleOf":
		n, ok := v.(float64)
		return ok && n > 0
	case "uniqueItems", "readOnly", "writeOnly", "deprecated":
		_, ok := v.(bool)
		return ok
	case "dependentRequired":
		named, ok := v.(map[string]any)
		for _, list := range named {
			ok = ok && plainKeyword("required", list)
		}
		return ok
	}
	return true
}

func isType(v any) bool {
	switch v {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return true
	}
	return false
}

// distinct reports a list of strings that are all different.
func distinct(list []any) bool {
	seen := make(map[string]bool, len(list))
	return all(list, func(v any) bool {
		s, ok := v.(string)
		ok = ok && !seen[s]
		seen[s] = true
		return ok
	})
}

func all(list []any, is func(any) bool) bool {
	for _, v := range list {
		if !is(v) {
			return false
		}
	}
	return true
}
