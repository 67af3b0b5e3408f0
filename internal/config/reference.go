package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key documents one setting.
type Key struct {
	Path    string   // names the user chooses stand as <name>
	Type    string   // such as "a whole number"
	Default string   // as TOML; empty when unset
	Values  []string // allowed values; empty when free
	Doc     string   // one or two sentences
}

// Keys lists every setting in the order of the file.
func Keys() []Key {
	var found []Key
	walk(schema(), nil, reflect.ValueOf(specimen()).Elem(), func(n *node, p Path, v reflect.Value) {
		if depth(n) == 0 {
			found = append(found, Key{shownPath(p), n.kind.String(), defaultOf(v), n.enum, n.doc})
		}
	})
	return found
}

// entryName stands for a name the user chooses.
const entryName = "<name>"

// specimen is the default configuration with one entry of each kind.
func specimen() *Config {
	c := Default()
	c.Providers[entryName] = Provider{}
	c.Agents[entryName] = defaultAgent()
	c.Harnesses[entryName] = DefaultHarness()
	c.MCP.Servers[entryName] = defaultMCPServer()
	c.Owners[entryName] = defaultOwner()
	c.Bindings = []Binding{{}}
	account := map[string]Account{entryName: {}}
	c.Channels.Discord.Accounts, c.Channels.Telegram.Accounts = account, account
	c.complete()
	return c
}

// walk visits the settings below n: a section's own keys, then the sections in
// it.
func walk(n *node, p Path, v reflect.Value, visit func(*node, Path, reflect.Value)) {
	if len(p) > 0 {
		visit(n, p, v)
	}
	switch {
	case n.kind == kindTable:
		fields := slices.Clone(n.fields())
		slices.SortStableFunc(fields, func(a, b *node) int { return depth(a) - depth(b) })
		for _, f := range fields {
			walk(f, p.with(f.name), member(v, f.name), visit)
		}
	case n.kind == kindMap && n.elem.kind == kindTable:
		walk(n.elem, p.with(entryName), member(v, entryName), visit)
	case n.kind == kindTables:
		walk(n.elem, p.with("0"), member(v, "0"), visit)
	}
}

// depth tells plain keys (0) from sections (1).
func depth(n *node) int {
	if n.kind == kindTable || n.kind == kindTables || n.elem != nil && n.elem.kind == kindTable {
		return 1
	}
	return 0
}

// shownPath writes a path with placeholders for names and list indices.
func shownPath(p Path) string {
	parts := slices.Clone(p)
	for i, part := range parts {
		if part == "0" {
			parts[i] = "[]"
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "."), ".[]", "[]")
}

func defaultOf(v reflect.Value) string {
	if value := plain(v); !isEmpty(value) {
		return inline(value)
	}
	return ""
}

// markdownHead begins the reference page.
const markdownHead = `# Configuration reference

All settings of config.toml in the configuration directory (~/.grapnel, or what --config-dir or
GRAPNEL_CONFIG_DIR says). Every setting can be overridden by an environment variable: GRAPNEL_ and
the dotted path with two underscores for each dot, such as GRAPNEL_acp__default_agent=main.

This page is generated: go generate ./cmd/grapnel
`

// Markdown writes the reference of all settings, a table for each section.
func Markdown() string {
	var b strings.Builder
	b.WriteString(markdownHead)
	section := "-"
	for _, k := range Keys() {
		parent, name := "", k.Path
		if i := strings.LastIndexByte(k.Path, '.'); i >= 0 {
			parent, name = k.Path[:i], k.Path[i+1:]
		}
		if parent != section {
			section = parent
			fmt.Fprintf(&b, "\n## %s\n\n| key | type | default | meaning |\n|---|---|---|---|\n", heading(parent))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, k.typeText(), code(k.Default), k.Doc)
	}
	return b.String()
}

func heading(section string) string {
	switch list, isList := strings.CutSuffix(section, "[]"); {
	case section == "":
		return "Top level"
	case isList:
		return "`[[" + list + "]]`"
	}
	return "`[" + section + "]`"
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func (k Key) typeText() string {
	if len(k.Values) > 0 {
		return strings.Join(k.Values, ", ")
	}
	return k.Type
}

// JSONSchema returns the JSON Schema of config.toml (draft 2020-12), for
// editors that complete TOML.
func JSONSchema() map[string]any {
	s := jsonSchema(schema(), reflect.ValueOf(specimen()).Elem())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "Grapnel configuration"
	agents := s["properties"].(map[string]any)["agents"].(map[string]any)
	agents["propertyNames"] = map[string]any{"pattern": "^[a-z0-9]+(_[a-z0-9]+)*$", "maxLength": maxAlias}
	return s
}

func jsonSchema(n *node, v reflect.Value) map[string]any {
	s := map[string]any{}
	if n.doc != "" {
		s["description"] = n.doc
	}
	switch n.kind {
	case kindTable:
		properties := map[string]any{}
		for _, f := range n.fields() {
			properties[f.name] = jsonSchema(f, member(v, f.name))
		}
		s["type"], s["properties"], s["additionalProperties"] = "object", properties, false
	case kindMap:
		elem := reflect.Value{}
		if v.IsValid() {
			elem = member(v, entryName)
		}
		s["type"], s["additionalProperties"] = "object", jsonSchema(n.elem, elem)
	case kindTables:
		s["type"], s["items"] = "array", jsonSchema(n.elem, member(v, "0"))
	default:
		scalarSchema(s, n, v)
	}
	return s
}

func scalarSchema(s map[string]any, n *node, v reflect.Value) {
	of := s
	switch n.kind {
	case kindStrings:
		of = map[string]any{"type": "string"}
		s["type"], s["items"] = "array", of
	case kindInt:
		s["type"] = "integer"
	case kindBool:
		s["type"] = "boolean"
	default:
		s["type"] = "string"
	}
	if n.enum != nil {
		of["enum"] = n.enum
	}
	if n.min != nil {
		s["minimum"] = *n.min
	}
	if n.max != nil {
		s["maximum"] = *n.max
	}
	if !v.IsValid() {
		return
	}
	if value := plain(v); !isEmpty(value) {
		s["default"] = value
	}
}
