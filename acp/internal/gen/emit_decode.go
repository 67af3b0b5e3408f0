package main

import (
	"fmt"
	"strings"
)

// emitMessageDecoders writes the decoders of params and results.
func emitMessageDecoders(e *emitter, m *model) {
	for _, t := range m.types {
		if t.kind == kindObject && t.method != "" {
			e.decodeObject(t)
		}
	}
}

// emitObjectDecoders writes the decoders of the objects in them.
func emitObjectDecoders(e *emitter, m *model) {
	for _, t := range m.types {
		if t.kind == kindObject && t.method == "" {
			e.decodeObject(t)
		}
	}
}

// emitUnionDecoders writes the decoders of everything else.
func emitUnionDecoders(e *emitter, m *model) {
	for _, t := range m.types {
		switch t.kind {
		case kindAlias:
			if t.kinds != "" {
				e.head(t)
				e.p("return wire.DecodeKinds(d, x, %q)\n}\n", t.kinds)
			}
		case kindEnum:
			e.decodeEnum(t)
		case kindUnion:
			e.decodeUnion(t)
		case kindLists:
			e.decodeLists(t)
		}
	}
}

func (e *emitter) head(t *goType) {
	e.p("func decode%s(d *wire.Decoder, x *%s) error {", t.name, t.name)
}

func (e *emitter) decodeEnum(t *goType) {
	e.head(t)
	e.p("return wire.DecodeEnum(d, x, %t, %s)\n}\n", t.open, t.constantList())
}

func (e *emitter) decodeObject(t *goType) {
	e.head(t)
	if len(t.fields)+len(t.variants) == 0 && !t.noMeta {
		e.p("return wire.DecodeEmpty(d, &x.Meta, &x.Extra)\n}\n")
		return
	}
	e.p("*x = %s{}", t.name)
	if len(t.variants) > 0 {
		e.decodeHalves(t)
	}
	if len(t.variants) == 0 {
		e.p("var err error")
	}
	if len(t.needs) > 0 {
		e.p("if err := need%s(d); err != nil {\nreturn err\n}", t.name)
	}
	e.p("var o wire.Object\nif err := o.Open(d); err != nil {\nreturn err\n}")
	required := t.required()
	if len(required) > 0 {
		e.p("var seen uint64")
	}
	e.p("for o.Next() {\nswitch string(o.Key) {")
	for _, f := range t.fields {
		e.p("case %q:\nerr = %s", f.wire, f.decodeExpr())
		if i := indexOf(required, f.wire); i >= 0 {
			e.p("seen |= 1 << %d", i)
		}
	}
	switch {
	case !t.noMeta:
		e.p("default:\nerr = o.Rest(&x.Meta)")
	case t.half:
		e.p("default:\nerr = o.Ignore()")
	default:
		e.p("default:\nerr = o.Keep()")
	}
	e.p("}\nif err != nil {\nreturn wire.At(err, string(o.Key))\n}\n}")
	e.decodeEnd(t, required)
}

func (e *emitter) decodeEnd(t *goType, required []string) {
	if len(required) > 0 {
		e.p("if seen != 1<<%d-1 {", len(required))
		e.p("if err := d.Missing(seen, %d, %s); err != nil {\nreturn err\n}\n}", t.lenient(required), quoted(required))
	}
	if t.half {
		e.p("_, err = o.End()\nreturn err\n}\n")
		return
	}
	e.p("x.Extra, err = o.End()\nreturn err\n}\n")
	e.needs(t)
}

// lenient returns the bits of the required members that are arrays with
// x-deserialize-default-on-null: a decoder that is not strict lets them miss.
func (t *goType) lenient(required []string) (bits uint64) {
	for _, f := range t.fields {
		if f.required && !f.nullable && indexOf(f.rules, "wire.NullIsEmpty") >= 0 {
			bits |= 1 << indexOf(required, f.wire)
		}
	}
	return bits
}

func (t *goType) required() (names []string) {
	for _, f := range t.fields {
		if f.required {
			names = append(names, f.wire)
		}
	}
	return names
}

// needs writes the check of what a flat object must have for its discriminator.
func (e *emitter) needs(t *goType) {
	if len(t.needs) == 0 {
		return
	}
	e.p("func need%s(d *wire.Decoder) error {", t.name)
	if t.tag != "" {
		e.p("tag, err := d.Tag(%q)\nif err != nil {\nreturn err\n}\nswitch string(tag) {", t.tag)
	}
	for _, n := range t.needs {
		switch {
		case n.wire != "":
			e.p("case %q:", n.wire)
		case t.tag != "":
			e.p("default:")
		}
		e.need(n)
	}
	if t.tag != "" {
		e.p("}")
	}
	e.p("return nil\n}\n")
}

func (e *emitter) need(n need) {
	if len(n.allOf) > 0 {
		e.p("if err := d.NeedAll(%s); err != nil {\nreturn err\n}", quoted(n.allOf))
	}
	if len(n.anyOf) > 0 {
		e.p("if err := d.NeedAny(%s); err != nil {\nreturn err\n}", quoted(n.anyOf))
	}
}

// decodeExpr is the expression that decodes the next value into the field.
func (f *field) decodeExpr() string {
	dst := "&x." + f.name
	expr := fmt.Sprintf("%s(d, %s)", f.elem.decode, dst)
	rules := strings.Join(f.rules, "|")
	if rules == "" {
		rules = "0"
	}
	switch {
	case f.patch && f.shape == shapeSlice:
		expr = fmt.Sprintf("wire.DecodeOpt(d, %s, wire.SliceOf[%s](%s, %s))", dst, f.elem.goType, f.elem.decode, rules)
	case f.patch:
		expr = fmt.Sprintf("wire.DecodeOpt(d, %s, %s)", dst, f.elem.decode)
	case f.shape != shapeOne:
		name := map[shape]string{shapeSlice: "Slice", shapeMap: "Map", shapeMembers: "Members"}[f.shape]
		expr = fmt.Sprintf("wire.Decode%s(d, %s, %s, %s)", name, dst, f.elem.decode, rules)
	case f.isPointer() && !f.nullable:
		expr = fmt.Sprintf("wire.DecodeNew(d, %s, %s)", dst, f.elem.decode)
	case f.isPointer():
		expr = fmt.Sprintf("wire.DecodePtr(d, %s, %s)", dst, f.elem.decode)
	}
	if f.onError {
		expr = fmt.Sprintf("wire.OrZero(&o, %s, %s)", dst, expr)
	}
	return expr
}

// decodeHalves decodes the variant of a composite before the object around it,
// which then knows whose the other members are.
func (e *emitter) decodeHalves(t *goType) {
	e.p("kind, err := d.Tag(%q)\nif err != nil {\nreturn err\n}", t.tag)
	e.p("start := d.Start()\nvar half string\nswitch string(kind) {")
	for _, v := range t.variants {
		if v.wire != "" {
			e.p("case %q:\nx.%s, half = new(%s), %q", v.wire, v.name, v.payload, t.tag+","+v.members)
			e.p("err = decode%s(d, x.%s)", v.payload, v.name)
		}
	}
	e.p("default:")
	switch def := t.untagged(); {
	case def != nil:
		e.p("x.%s, half = new(%s), %q\nerr = decode%s(d, x.%s)", def.name, def.payload, def.members, def.payload, def.name)
	case len(t.other) > 0:
		e.p("if err = d.UnknownHalf(kind, %t, %q); err == nil {\nerr = d.NeedAll(%s)\n}", t.open, t.tag, quoted(t.other))
	default:
		e.p("err = d.UnknownHalf(kind, %t, %q)", t.open, t.tag)
	}
	e.p("}\nif err != nil {\nreturn err\n}\nd.Rewind(start)\nd.Skip(half)")
}

func (t *goType) untagged() *variant {
	for _, v := range t.variants {
		if v.wire == "" {
			return v
		}
	}
	return nil
}

func (e *emitter) decodeUnion(t *goType) {
	e.head(t)
	e.p("*x = %s{}", t.name)
	if t.tag == "" {
		e.decodeByMembers(t)
		return
	}
	e.p("kind, err := d.Tag(%q)\nif err != nil {\nreturn err\n}\nswitch string(kind) {", t.tag)
	for _, v := range t.variants {
		if v.wire != "" {
			e.p("case %q:\nx.%s = new(%s)\nd.Skip(%q)", v.wire, v.name, v.payload, t.tag)
			e.p("return decode%s(d, x.%s)", v.payload, v.name)
		}
	}
	e.p("}")
	e.needOther(t)
	unknown := fmt.Sprintf("d.UnknownVariant(&x.Raw, %t, %q, kind)", t.open, t.tag)
	switch def := t.untagged(); {
	case def == nil:
		e.p("return %s\n}\n", unknown)
	case t.open:
		e.p("if kind != nil {\nreturn %s\n}", unknown)
		e.p("x.%s = new(%s)\nreturn decode%s(d, x.%s)\n}\n", def.name, def.payload, def.payload, def.name)
	default:
		e.p("start := d.Start()\nx.%s = new(%s)\nerr = decode%s(d, x.%s)", def.name, def.payload, def.payload, def.name)
		e.p("if err == nil || kind == nil || d.Strict || string(kind) == %q {\nreturn err\n}", def.label)
		e.p("x.%s = nil\nd.Rewind(start)\nreturn %s\n}\n", def.name, unknown)
	}
}

// needOther checks what the schema asks of a variant that it does not name.
func (e *emitter) needOther(t *goType) {
	if len(t.other) > 0 {
		e.p("if err := d.NeedAll(%s); err != nil {\nreturn err\n}", quoted(t.other))
	}
}

// decodeByMembers decodes a union without a discriminator: the first variant
// whose required members are there.
func (e *emitter) decodeByMembers(t *goType) {
	e.p("switch {")
	for _, v := range t.variants[1:] {
		e.p("case !d.Has(%s) && d.Has(%s):", quoted(t.variants[0].required), quoted(v.required))
		e.p("x.%s = new(%s)\nreturn decode%s(d, x.%s)", v.name, v.payload, v.payload, v.name)
	}
	first := t.variants[0]
	e.p("default:\nx.%s = new(%s)\nreturn decode%s(d, x.%s)\n}\n}\n", first.name, first.payload, first.payload, first.name)
}

func (e *emitter) decodeLists(t *goType) {
	a, b := t.variants[0], t.variants[1]
	e.head(t)
	e.p("*x = %s{}", t.name)
	e.p("start := d.Start()")
	e.p("err := wire.DecodeSlice(d, &x.%s, decode%s, 0)\nif err == nil {\nreturn nil\n}", a.name, a.payload)
	e.p("d.Rewind(start)")
	e.p("if wire.DecodeSlice(d, &x.%s, decode%s, 0) == nil {\nreturn nil\n}\nreturn err\n}\n", b.name, b.payload)
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(out, ", ")
}

func indexOf(names []string, name string) int {
	for i, other := range names {
		if other == name {
			return i
		}
	}
	return -1
}
