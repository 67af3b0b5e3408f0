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
				e.p("return wire.DecodeKinds(d, v, x, %q)\n}\n", t.kinds)
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
	e.p("func decode%s(d *wire.Decoder, v []byte, x *%s) error {", t.name, t.name)
}

func (e *emitter) decodeEnum(t *goType) {
	e.head(t)
	e.p("return wire.DecodeEnum(d, v, x, %t, %s)\n}\n", t.open, t.constantList())
}

func (e *emitter) decodeObject(t *goType) {
	e.head(t)
	if len(t.fields)+len(t.variants) == 0 && !t.noMeta {
		e.p("return wire.DecodeEmpty(d, v, &x.Meta, &x.Extra)\n}\n")
		return
	}
	e.p("*x = %s{}", t.name)
	if len(t.variants) > 0 {
		e.decodeHalves(t)
	}
	e.p("o, err := d.Object(v)\nif err != nil {\nreturn err\n}")
	required := t.required()
	if len(required) > 0 {
		e.p("var seen uint64")
	}
	e.p("for o.Next() {\nvar err error\nswitch string(o.Key) {")
	for _, f := range t.fields {
		e.p("case %q:\nerr = %s", f.wire, f.decodeExpr())
		if i := indexOf(required, f.wire); i >= 0 {
			e.p("seen |= 1 << %d", i)
		}
	}
	switch {
	case !t.noMeta:
		e.p("default:\no.Rest(&x.Meta)")
	case !t.half:
		e.p("default:\no.KeepExtra()")
	}
	e.p("}\nif err != nil {\nreturn wire.At(err, string(o.Key))\n}\n}")
	e.decodeEnd(t, required)
}

func (e *emitter) decodeEnd(t *goType, required []string) {
	if len(required) > 0 {
		e.p("if seen != 1<<%d-1 {", len(required))
		if t.lenient(required) != 0 {
			e.p("if err := d.Missing(seen, %d, %s); err != nil {\nreturn err\n}", t.lenient(required), quoted(required))
		} else {
			e.p("return wire.Missing(seen, %s)", quoted(required))
		}
		e.p("}")
	}
	e.needs(t)
	if t.half {
		e.p("_, err = o.End()\nreturn err\n}\n")
		return
	}
	e.p("x.Extra, err = o.End()\nreturn err\n}\n")
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

func (e *emitter) needs(t *goType) {
	for _, n := range t.needs {
		switch {
		case n.wire != "":
			e.p("if x.%s == %q {", goName(t.tag), n.wire)
		case t.tag != "":
			e.p("if !x.%s.Known() {", goName(t.tag))
		}
		if len(n.allOf) > 0 {
			e.p("if err := wire.NeedAll(v, %s); err != nil {\nreturn err\n}", quoted(n.allOf))
		}
		if len(n.anyOf) > 0 {
			e.p("if err := wire.NeedAny(v, %s); err != nil {\nreturn err\n}", quoted(n.anyOf))
		}
		if t.tag != "" {
			e.p("}")
		}
	}
}

// decodeExpr is the expression that decodes o.Value into the field.
func (f *field) decodeExpr() string {
	dst := "&x." + f.name
	expr := fmt.Sprintf("%s(d, o.Value, %s)", f.elem.decode, dst)
	rules := strings.Join(f.rules, "|")
	if rules == "" {
		rules = "0"
	}
	switch {
	case f.patch && f.shape == shapeSlice:
		expr = fmt.Sprintf("wire.DecodeOpt(d, o.Value, %s, wire.SliceOf[%s](%s, %s))", dst, f.elem.goType, f.elem.decode, rules)
	case f.patch:
		expr = fmt.Sprintf("wire.DecodeOpt(d, o.Value, %s, %s)", dst, f.elem.decode)
	case f.shape != shapeOne:
		name := map[shape]string{shapeSlice: "Slice", shapeMap: "Map", shapeMembers: "Members"}[f.shape]
		expr = fmt.Sprintf("wire.Decode%s(d, o.Value, %s, %s, %s)", name, dst, f.elem.decode, rules)
	case f.isPointer():
		expr = fmt.Sprintf("wire.DecodePtr(d, o.Value, %s, %s)", dst, f.elem.decode)
	}
	if f.onError {
		expr = fmt.Sprintf("wire.OrZero(%s, %s)", dst, expr)
	}
	return expr
}

// decodeHalves decodes the variant of a composite before the object around it,
// which then knows whose the other members are.
func (e *emitter) decodeHalves(t *goType) {
	e.p("kind, err := d.Tag(v, %q)\nif err != nil {\nreturn err\n}", t.tag)
	e.p("var half string\nswitch string(kind) {")
	for _, v := range t.variants {
		if v.wire != "" {
			e.p("case %q:\nx.%s, half = new(%s), %q", v.wire, v.name, v.payload, t.tag+","+v.members)
			e.p("err = decode%s(d, v, x.%s)", v.payload, v.name)
		}
	}
	e.p("default:")
	switch def := t.untagged(); {
	case def != nil:
		e.p("x.%s, half = new(%s), %q\nerr = decode%s(d, v, x.%s)", def.name, def.payload, def.members, def.payload, def.name)
	case len(t.other) > 0:
		e.p("if err = d.UnknownHalf(kind, %t, %q); err == nil {\nerr = wire.NeedAll(v, %s)\n}", t.open, t.tag, quoted(t.other))
	default:
		e.p("err = d.UnknownHalf(kind, %t, %q)", t.open, t.tag)
	}
	e.p("}\nif err != nil {\nreturn err\n}\nd.Skip(half)")
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
	e.p("kind, err := d.Tag(v, %q)\nif err != nil {\nreturn err\n}\nswitch string(kind) {", t.tag)
	for _, v := range t.variants {
		if v.wire != "" {
			e.p("case %q:\nx.%s = new(%s)\nd.Skip(%q)", v.wire, v.name, v.payload, t.tag)
			e.p("return decode%s(d, v, x.%s)", v.payload, v.name)
		}
	}
	e.p("}")
	e.needOther(t)
	unknown := fmt.Sprintf("d.UnknownVariant(v, &x.Raw, %t, %q, kind)", t.open, t.tag)
	switch def := t.untagged(); {
	case def == nil:
		e.p("return %s\n}\n", unknown)
	case t.open:
		e.p("if kind != nil {\nreturn %s\n}", unknown)
		e.p("x.%s = new(%s)\nreturn decode%s(d, v, x.%s)\n}\n", def.name, def.payload, def.payload, def.name)
	default:
		e.p("x.%s = new(%s)\nerr = decode%s(d, v, x.%s)", def.name, def.payload, def.payload, def.name)
		e.p("if err == nil || kind == nil || d.Strict || string(kind) == %q {\nreturn err\n}", def.label)
		e.p("x.%s = nil\nreturn %s\n}\n", def.name, unknown)
	}
}

// needOther checks what the schema asks of a variant that it does not name.
func (e *emitter) needOther(t *goType) {
	if len(t.other) > 0 {
		e.p("if err := wire.NeedAll(v, %s); err != nil {\nreturn err\n}", quoted(t.other))
	}
}

// decodeByMembers decodes a union without a discriminator: the first variant
// whose required members are there.
func (e *emitter) decodeByMembers(t *goType) {
	e.p("switch {")
	for _, v := range t.variants[1:] {
		e.p("case !wire.Has(v, %s) && wire.Has(v, %s):", quoted(t.variants[0].required), quoted(v.required))
		e.p("x.%s = new(%s)\nreturn decode%s(d, v, x.%s)", v.name, v.payload, v.payload, v.name)
	}
	first := t.variants[0]
	e.p("default:\nx.%s = new(%s)\nreturn decode%s(d, v, x.%s)\n}\n}\n", first.name, first.payload, first.payload, first.name)
}

func (e *emitter) decodeLists(t *goType) {
	a, b := t.variants[0], t.variants[1]
	e.head(t)
	e.p("*x = %s{}", t.name)
	e.p("err := wire.DecodeSlice(d, v, &x.%s, decode%s, 0)", a.name, a.payload)
	e.p("if err != nil && wire.DecodeSlice(d, v, &x.%s, decode%s, 0) == nil {\nreturn nil\n}\nreturn err\n}\n", b.name, b.payload)
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
