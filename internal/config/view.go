package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/secret"
)

// Get returns the effective value at p: a string, int64, bool, []string,
// map[string]any for a section, []any for a list of sections, or nil where
// nothing is set. Secrets are redacted. An unknown or absent path is an error.
func (c *Config) Get(p Path) (any, error) {
	if _, err := schema().lookup(p); err != nil {
		return nil, err
	}
	v := reflect.ValueOf(c).Elem()
	for i, part := range p {
		if v = member(v, part); !v.IsValid() {
			return nil, fmt.Errorf("%s does not exist", p[:i+1])
		}
	}
	return plain(v), nil
}

// member returns the value called name in a section, or the zero Value.
func member(v reflect.Value, name string) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		for f, field := range v.Fields() {
			if f.Tag.Get("toml") == name {
				return field
			}
		}
	case reflect.Map:
		return v.MapIndex(reflect.ValueOf(name))
	case reflect.Slice:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < v.Len() {
			return v.Index(i)
		}
	}
	return reflect.Value{}
}

// plain turns a setting into what Get returns.
func plain(v reflect.Value) any {
	if ref, ok := v.Interface().(secret.Ref); ok {
		return ref.String()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		section := map[string]any{}
		for f, field := range v.Fields() {
			if name := f.Tag.Get("toml"); name != "" {
				section[name] = plain(field)
			}
		}
		return section
	case reflect.Map:
		section := map[string]any{}
		for key, value := range v.Seq2() {
			section[key.String()] = plain(value)
		}
		return section
	case reflect.Slice:
		return plainList(v)
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Bool:
		return v.Bool()
	default:
		return v.String()
	}
}

func plainList(v reflect.Value) any {
	if v.Type().Elem().Kind() == reflect.String {
		if v.IsNil() {
			return nil
		}
		return slices.Clone(v.Interface().([]string))
	}
	list := []any{}
	for _, item := range v.Seq2() {
		list = append(list, plain(item))
	}
	return list
}

// TOML writes the effective configuration as a file, secrets redacted. What is
// empty is left out.
func (c *Config) TOML() string {
	value, err := c.Get(nil)
	section, ok := value.(map[string]any)
	if err != nil || !ok {
		return ""
	}
	var b strings.Builder
	writeSection(&b, schema(), nil, section)
	return strings.TrimPrefix(b.String(), "\n")
}

// Text writes a value that Get returned at p for people: a plain value as it
// is, lists and sections as TOML.
func Text(p Path, value any) string {
	switch v := value.(type) {
	case nil:
		return "\n"
	case map[string]any:
		n, err := schema().lookup(p)
		if err != nil {
			return ""
		}
		var b strings.Builder
		writeSection(&b, n, p, v)
		return strings.TrimPrefix(b.String(), "\n")
	case string:
		return v + "\n"
	default:
		return inline(value) + "\n"
	}
}

// writeSection writes the plain keys of a section, then the sections in it.
func writeSection(b *strings.Builder, n *node, p Path, section map[string]any) {
	var inner []string
	header := p != nil
	for _, name := range order(n, section) {
		if nested(n.child(name), section[name]) {
			inner = append(inner, name)
			continue
		}
		if isEmpty(section[name]) {
			continue
		}
		if header {
			fmt.Fprintf(b, "\n[%s]\n", p)
			header = false
		}
		fmt.Fprintf(b, "%s = %s\n", quoteKey(name), inline(section[name]))
	}
	if header && n.kind == kindTable && len(inner) == 0 {
		fmt.Fprintf(b, "\n[%s]\n", p) // an entry that is all defaults still exists
	}
	for _, name := range inner {
		writeNested(b, n.child(name), p.with(name), section[name])
	}
}

func writeNested(b *strings.Builder, n *node, p Path, value any) {
	switch v := value.(type) {
	case map[string]any:
		if !isEmpty(v) {
			writeSection(b, n, p, v)
		}
	case []any:
		for _, item := range v {
			fmt.Fprintf(b, "\n[[%s]]\n", p)
			entry := item.(map[string]any)
			for _, name := range order(n.elem, entry) {
				if !isEmpty(entry[name]) {
					fmt.Fprintf(b, "%s = %s\n", quoteKey(name), inline(entry[name]))
				}
			}
		}
	}
}

// nested reports whether a setting gets a header of its own.
func nested(n *node, value any) bool {
	switch value.(type) {
	case map[string]any:
		return n.kind == kindTable || n.elem.kind == kindTable
	case []any:
		return true
	}
	return false
}

// order lists the keys of a section as the schema has them, names sorted.
func order(n *node, section map[string]any) []string {
	if n.kind != kindTable {
		return keys(section)
	}
	names := make([]string, len(n.fields()))
	for i, f := range n.fields() {
		names[i] = f.name
	}
	return names
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []string:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, item := range v {
			if !isEmpty(item) {
				return false
			}
		}
		return true
	}
	return false
}

// inline writes a value on one line.
func inline(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = quote(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = inline(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var items []string
		for _, name := range keys(v) {
			if !isEmpty(v[name]) {
				items = append(items, quoteKey(name)+" = "+inline(v[name]))
			}
		}
		return strings.TrimSuffix("{ "+strings.Join(items, ", "), " ") + " }"
	default:
		return fmt.Sprint(v)
	}
}
