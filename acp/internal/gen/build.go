package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// builder turns a source into a model.
type builder struct {
	src     *source
	version string
	out     *model
}

func build(src *source, version string) (*model, error) {
	b := &builder{src: src, version: version}
	b.out = &model{version: version, byName: map[string]*goType{}}
	for _, def := range src.all {
		if def.schema.Method == "" {
			continue
		}
		if _, err := b.define(def.name); err != nil {
			return nil, err
		}
	}
	b.order()
	b.finish()
	b.out.calls, b.out.methods = calls(b.out.types), methods(b.out.types)
	return b.out, nil
}

// order puts the types in the schema's order; define has met them depth first.
func (b *builder) order() {
	var types []*goType
	for _, def := range b.src.all {
		if t := b.out.byName[def.name]; t != nil {
			types = append(types, t)
		}
	}
	for _, t := range b.out.types { // those without a definition of their own
		if b.src.all.get(schemaName(b.out, t)) == nil {
			types = append(types, t)
		}
	}
	b.out.types = types
}

func schemaName(m *model, t *goType) string {
	for name, other := range m.byName {
		if other == t {
			return name
		}
	}
	return ""
}

// define makes the type of a definition and of all that it uses.
func (b *builder) define(name string) (*goType, error) {
	if t := b.out.byName[name]; t != nil {
		return t, nil
	}
	s := b.src.all.get(name)
	if s == nil {
		return nil, fmt.Errorf("the schema has no definition %s", name)
	}
	t := &goType{name: goName(name), unstable: b.src.stable.get(name) == nil, side: s.Side, method: s.Method}
	b.add(name, t)
	if err := b.fill(t, name, s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func (b *builder) add(name string, t *goType) {
	b.out.byName[name] = t
	b.out.types = append(b.out.types, t)
}

func (b *builder) fill(t *goType, name string, s *schema) error {
	switch {
	case s.ref() != "" && len(s.variants()) == 0:
		target, err := b.define(s.ref())
		if err == nil {
			t.kind, t.target = kindAlias, target.name
		}
		return err
	case len(s.Properties) > 0 && len(s.variants()) > 0:
		return b.composite(t, name, s)
	case len(s.variants()) > 0:
		return b.choice(t, name, s)
	case s.Type.is("object"):
		t.kind = kindObject
		return b.object(t, name, s)
	}
	r, err := b.scalar(s)
	t.kind, t.target = kindAlias, r.goType
	return err
}

// choice is a definition that is nothing but one of several.
func (b *builder) choice(t *goType, name string, s *schema) error {
	switch vs := s.variants(); {
	case all(vs, func(v *schema) bool { return v.Type.is("string") }):
		b.enum(t, name, s)
	case all(vs, func(v *schema) bool { return v.Type.is("integer") }):
		b.code(t, vs)
	case all(vs, func(v *schema) bool { return v.Type.is("array") }):
		return b.lists(t, vs)
	case all(vs, isObject):
		return b.union(t, name, s)
	default:
		t.kind, t.target = kindAlias, "jsontext.Value"
		t.kinds = kinds(vs)
	}
	return nil
}

func all(vs []*schema, ok func(*schema) bool) bool {
	for _, v := range vs {
		if !ok(v) {
			return false
		}
	}
	return true
}

func isObject(s *schema) bool { return s.Type.is("object") || s.ref() != "" }

// kinds names the JSON kinds of a choice between scalars, as wire.DecodeKinds
// reads them.
func kinds(vs []*schema) string {
	var out strings.Builder
	for _, v := range vs {
		switch {
		case v.Type.is("string"):
			out.WriteByte('"')
		case v.Type.is("integer"):
			out.WriteByte('i')
		case v.Type.is("number"):
			out.WriteByte('0')
		case v.Type.is("boolean"):
			out.WriteByte('t')
		case v.Type.is("null"):
			out.WriteByte('n')
		case v.Type.is("array"):
			out.WriteByte('[')
		default:
			return "*"
		}
	}
	return out.String()
}

func (b *builder) enum(t *goType, name string, s *schema) {
	t.kind = kindEnum
	stable := b.src.stable.get(name)
	for _, v := range s.variants() {
		if v.text() == "" {
			t.open = true
			continue
		}
		t.values = append(t.values, value{name: goName(v.text()), wire: v.text(), unstable: !t.unstable && !hasConst(stable, v.text())})
	}
}

func hasConst(s *schema, text string) bool {
	for _, v := range s.variants() {
		if v.text() == text {
			return true
		}
	}
	return false
}

func (b *builder) code(t *goType, vs []*schema) {
	t.kind = kindCode
	for _, v := range vs {
		if v.Const != nil {
			t.values = append(t.values, value{name: goName(v.Title), wire: string(v.Const)})
		}
	}
}

func (b *builder) lists(t *goType, vs []*schema) error {
	t.kind = kindLists
	for _, v := range vs {
		item, err := b.define(v.Items.ref())
		if err != nil {
			return err
		}
		t.variants = append(t.variants, &variant{name: goName(v.Title), payload: item.name})
		item.uses = append(item.uses, "an item of "+t.name)
	}
	return nil
}

// object fills the fields of a struct from s's own properties.
func (b *builder) object(t *goType, name string, s *schema) error {
	t.noMeta = s.Properties.get("_meta") == nil
	stable := b.src.stable.get(name)
	for _, p := range s.Properties {
		if p.name == "_meta" || p.schema.text() != "" {
			continue
		}
		f, err := b.field(t, p, s.Required)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		f.unstable = !t.unstable && stable != nil && stable.Properties.get(p.name) == nil
		f.patch = f.nullable && !f.elem.raw && patches[b.version][name]
		t.fields = append(t.fields, f)
	}
	return nil
}

func (b *builder) field(t *goType, p property, required []string) (*field, error) {
	s := p.schema
	f := &field{name: goName(p.name), wire: p.name, onError: s.DefaultOnError}
	for _, name := range required {
		f.required = f.required || name == p.name
	}
	f.nullable = s.Type.nullable()
	if vs := s.AnyOf; len(vs) == 2 && vs[1].Type.is("null") {
		s, f.nullable = vs[0], true
	}
	if err := b.shape(f, s); err != nil {
		return nil, err
	}
	b.rules(f, p.schema)
	if used := b.named(f.elem.goType); used != nil {
		used.uses = append(used.uses, "the "+p.name+" of "+t.name)
		f.pointer = used.kind != kindObject && f.optionalObject()
	}
	return f, nil
}

func (b *builder) named(goType string) *goType {
	for _, t := range b.out.types {
		if t.name == goType {
			return t
		}
	}
	return nil
}

func (b *builder) shape(f *field, s *schema) (err error) {
	elem := s
	switch {
	case s.Type.is("array"):
		f.shape, elem = shapeSlice, s.Items
	case s.Type.is("object") && len(s.Additional) > 0 && s.Additional.Kind() == '{':
		elem = new(schema)
		if err := json.Unmarshal(s.Additional, elem); err != nil {
			return err
		}
		f.shape = shapeMap
	}
	f.elem, err = b.scalar(elem)
	if f.shape == shapeMap && f.elem.object {
		f.shape = shapeMembers
	}
	return err
}

func (b *builder) rules(f *field, s *schema) {
	if f.shape == shapeOne {
		return
	}
	if f.nullable || s.DefaultOnNull {
		f.rules = append(f.rules, "wire.NullIsEmpty")
	}
	if s.SkipInvalid {
		f.rules = append(f.rules, "wire.DropBad")
	}
	if s.MinItems > 0 {
		f.rules = append(f.rules, "wire.AtLeastOne")
	}
}

// scalar is how s is written in Go where it is used once.
func (b *builder) scalar(s *schema) (ref, error) {
	switch {
	case s.ref() != "":
		t, err := b.define(s.ref())
		if err != nil {
			return ref{}, err
		}
		return b.use(t, s.ref()), nil
	case s.Type.is("string"):
		return ref{goType: "string", decode: pick(s.MinLength > 0, "wire.DecodeNonEmpty", "wire.DecodeString"), encode: "wire.EncodeString", enumOrString: true}, nil
	case s.Type.is("boolean"):
		return ref{goType: "bool", decode: "wire.DecodeBool", encode: "wire.EncodeBool", boolean: true}, nil
	case s.Type.is("integer"):
		return ref{goType: s.Format, decode: pick(s.Minimum > 0, "wire.DecodePositive", "wire.DecodeInt"), encode: "wire.EncodeInt"}, nil
	case s.Type.is("number"):
		return ref{goType: "float64", decode: pick(s.Maximum > 0, "wire.DecodeFraction", "wire.DecodeFloat"), encode: "wire.EncodeFloat"}, nil
	case s.Type.is("object"):
		return ref{goType: "jsontext.Value", decode: "wire.DecodeObject", encode: "wire.EncodeAny", raw: true}, nil
	case len(s.Type) == 0:
		return ref{goType: "jsontext.Value", decode: "wire.DecodeAny", encode: "wire.EncodeAny", raw: true}, nil
	}
	return ref{}, fmt.Errorf("the generator does not know the type %v", s.Type)
}

func pick(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// use is how the defined type t is written where it is used.
func (b *builder) use(t *goType, name string) ref {
	switch t.kind {
	case kindAlias:
		if t.kinds != "" {
			return ref{goType: t.name, decode: "decode" + t.name, encode: "wire.EncodeAny", raw: true}
		}
		r, _ := b.scalar(b.src.all.get(name)) // fill has done it once without an error
		r.goType = t.name
		return r
	case kindEnum:
		return ref{goType: t.name, decode: "decode" + t.name, encode: "wire.EncodeString", enumOrString: true}
	case kindCode:
		return ref{goType: t.name, decode: "wire.DecodeInt", encode: "wire.EncodeInt"}
	}
	return ref{goType: t.name, decode: "decode" + t.name, encode: "encode" + t.name, object: true}
}

// finish works out what depends on the whole model.
func (b *builder) finish() {
	for _, t := range b.out.types {
		for _, f := range t.fields {
			if f.optionalObject() && !f.pointer {
				b.named(f.elem.goType).byValue = true
			}
			switch {
			case f.isPointer():
				f.unless = "" // nil is no value to write
			case t.tag != "":
				f.unless = strings.ReplaceAll(f.unless, "TAG", goName(t.tag))
			}
		}
		for _, n := range t.needs {
			t.keepOne(n.anyOf)
		}
	}
}

// keepOne makes one of the named fields be written when all are zero, so that
// an empty string that was read is written again.
func (t *goType) keepOne(names []string) {
	for _, f := range t.fields {
		if !f.elem.enumOrString || f.unless != "" || !slices.Contains(names, f.wire) {
			continue
		}
		var others []string
		for _, other := range t.fields {
			if other != f && slices.Contains(names, other.wire) {
				others = append(others, other.absent())
			}
		}
		f.unless = " || " + strings.Join(others, " && ")
		return
	}
}
