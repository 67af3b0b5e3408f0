package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/spell"
)

// kind is the type of a setting as its user sees it.
type kind int

const (
	kindTable   kind = iota // a section with fixed keys
	kindMap                 // a section whose keys are names the user chooses
	kindTables              // a list of sections, [[like this]]
	kindStrings             // a list of strings
	kindString
	kindSecret
	kindInt
	kindBool
)

func (k kind) String() string {
	return [...]string{"a section", "a section", "a list of sections", "a list of strings", "a string", "a string", "a whole number", "true or false"}[k]
}

// node is one setting in the schema of config.toml.
type node struct {
	name     string
	kind     kind
	typ      reflect.Type
	keys     []*node // of kindTable, once fields has been called
	elem     *node   // of kindMap and kindTables
	enum     []string
	form     string // of its items: pattern (of tools) or command; "" for any
	min, max *int64
	doc      string
}

// schema returns the schema that the struct tags of Config hold. Sections are
// read when they are first looked at, so that a start pays only for what its
// file mentions. A schema belongs to one goroutine.
func schema() *node { return schemaOf(reflect.TypeFor[Config]()) }

func schemaOf(t reflect.Type) *node {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[secret.Ref]() {
		return &node{kind: kindSecret}
	}
	switch t.Kind() {
	case reflect.Struct:
		return &node{kind: kindTable, typ: t}
	case reflect.Map:
		return &node{kind: kindMap, elem: schemaOf(t.Elem())}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Struct {
			return &node{kind: kindTables, elem: schemaOf(t.Elem())}
		}
		return &node{kind: kindStrings}
	case reflect.Bool:
		return &node{kind: kindBool}
	case reflect.Int, reflect.Int64:
		return &node{kind: kindInt}
	default:
		return &node{kind: kindString}
	}
}

// fields returns the settings of a section in the order of the file.
func (n *node) fields() []*node {
	if n.kind == kindTable && n.keys == nil {
		n.keys = fieldsOf(n.typ)
	}
	return n.keys
}

func fieldsOf(t reflect.Type) []*node {
	var fields []*node
	for f := range t.Fields() {
		name := f.Tag.Get("toml")
		if name == "" {
			continue
		}
		n := schemaOf(f.Type)
		n.name, n.doc = name, f.Tag.Get("doc")
		if enum := f.Tag.Get("enum"); enum != "" {
			n.enum = strings.Split(enum, "|")
		}
		n.form = f.Tag.Get("form")
		n.min, n.max = bound(f.Tag.Get("min")), bound(f.Tag.Get("max"))
		fields = append(fields, n)
	}
	return fields
}

func bound(tag string) *int64 {
	v, err := strconv.ParseInt(tag, 10, 64)
	if err != nil {
		return nil
	}
	return &v
}

// child returns the setting called name below n, or nil.
func (n *node) child(name string) *node {
	switch n.kind {
	case kindMap:
		return n.elem
	case kindTables:
		if _, err := strconv.Atoi(name); err == nil {
			return n.elem
		}
	case kindTable:
		if i := slices.IndexFunc(n.fields(), func(f *node) bool { return f.name == name }); i >= 0 {
			return n.keys[i]
		}
	}
	return nil
}

// lookup follows p down from the root n. The error is an *unknownKeyError.
func (n *node) lookup(p Path) (*node, error) {
	at := n
	for i, part := range p {
		next := at.child(part)
		if next == nil {
			return nil, &unknownKeyError{path: p[:i+1], nearest: n.nearest(at, p, i)}
		}
		at = next
	}
	return at, nil
}

// unknownKeyError reports a key that is not in the schema.
type unknownKeyError struct {
	path    Path
	nearest Path // a known key; nil where the parent takes no keys
}

func (e *unknownKeyError) Error() string {
	if e.nearest == nil {
		return fmt.Sprintf("%s is not a setting; %s is a single value", e.path, e.path[:len(e.path)-1])
	}
	return fmt.Sprintf("%s is not a setting; did you mean %s?", e.path, e.nearest)
}

// nearest returns the known key most like p[:i+1], where at is the schema of
// p[:i]: a sibling spelled alike, else the same name in another section, else
// the most similar sibling.
func (n *node) nearest(at *node, p Path, i int) Path {
	if len(at.fields()) == 0 {
		return nil
	}
	siblings := make([]string, len(at.keys))
	for j, f := range at.keys {
		siblings[j] = f.name
	}
	best, distance := spell.Nearest(p[i], siblings)
	near := p[:i].with(best)
	if spell.Close(p[i], distance) {
		return near
	}
	if elsewhere := n.find(p[i], nil); elsewhere != nil {
		return elsewhere
	}
	return near
}

// find returns the first key called name that stands in fixed sections.
func (n *node) find(name string, at Path) Path {
	for _, f := range n.fields() {
		if f.name == name {
			return at.with(name)
		}
		if found := f.find(name, at.with(f.name)); found != nil {
			return found
		}
	}
	return nil
}

// IsSecret reports whether p is a setting that holds a credential.
func IsSecret(p Path) bool {
	root := schema()
	n, err := root.lookup(p)
	if err != nil || n.kind != kindSecret {
		return false
	}
	section, err := root.lookup(p[:len(p)-1])
	return err == nil && section.kind == kindTable // not one of many headers or variables
}
