package main

import "fmt"

// emitMessageEncoders writes the encoders of params and results.
func emitMessageEncoders(e *emitter, m *model) {
	for _, t := range m.types {
		if t.method != "" {
			e.encoder(t)
		}
	}
}

// emitObjectEncoders writes the encoders of everything in them.
func emitObjectEncoders(e *emitter, m *model) {
	for _, t := range m.types {
		if t.method == "" {
			e.encoder(t)
		}
	}
}

func (e *emitter) encoder(t *goType) {
	switch t.kind {
	case kindObject:
		e.encodeObject(t)
	case kindUnion:
		e.encodeUnion(t)
	case kindLists:
		e.encodeLists(t)
	}
}

func (e *emitter) encodeHead(t *goType) {
	e.p("func encode%s(e *wire.Encoder, x *%s) {", t.name, t.name)
}

// encodeObject writes the whole object, or for a half only its members.
func (e *emitter) encodeObject(t *goType) {
	e.encodeHead(t)
	if len(t.fields)+len(t.variants) == 0 && !t.noMeta {
		e.p("wire.EncodeEmpty(e, x.Meta, x.Extra)\n}\n")
		return
	}
	if !t.half {
		e.p("e.Begin()")
	}
	for _, f := range t.fields {
		e.encodeField(f)
	}
	e.encodeHalves(t)
	if !t.noMeta {
		e.p("e.Meta(x.Meta)")
	}
	if !t.half {
		e.p("e.Extra(x.Extra)\ne.End()")
	}
	e.p("}\n")
}

func (e *emitter) encodeField(f *field) {
	write := fmt.Sprintf("e.Key(%q)\n%s", f.wire, f.encodeCall())
	switch {
	case f.patch && f.shape == shapeSlice:
		e.p("wire.EncodeOpt(e, %q, &x.%s, wire.PutSlice[%s](%s))", f.wire, f.name, f.elem.goType, f.elem.encode)
	case f.patch:
		e.p("wire.EncodeOpt(e, %q, &x.%s, %s)", f.wire, f.name, f.elem.encode)
	case f.required:
		e.p("%s", write)
	default:
		e.p("if %s%s {\n%s\n}", f.present(), f.unless, write)
	}
}

func (f *field) encodeCall() string {
	switch {
	case f.shape == shapeSlice:
		return fmt.Sprintf("wire.EncodeSlice(e, x.%s, %s)", f.name, f.elem.encode)
	case f.shape == shapeMap:
		return fmt.Sprintf("wire.EncodeMap(e, x.%s, %s)", f.name, f.elem.encode)
	case f.shape == shapeMembers:
		return fmt.Sprintf("wire.EncodeMembers(e, x.%s, %s)", f.name, f.elem.encode)
	case f.isPointer():
		return fmt.Sprintf("%s(e, x.%s)", f.elem.encode, f.name)
	}
	return fmt.Sprintf("%s(e, &x.%s)", f.elem.encode, f.name)
}

func (e *emitter) encodeHalves(t *goType) {
	if len(t.variants) == 0 {
		return
	}
	e.p("switch {")
	for _, v := range t.variants {
		e.p("case x.%s != nil:", v.name)
		if v.wire != "" {
			e.p("e.Member(%q, %q)", t.tag, v.wire)
		}
		e.p("encode%s(e, x.%s)", v.payload, v.name)
	}
	e.p("}")
}

func (e *emitter) encodeUnion(t *goType) {
	e.encodeHead(t)
	e.p("switch {")
	for _, v := range t.variants {
		e.p("case x.%s != nil:", v.name)
		if v.wire != "" {
			e.p("e.Tag(%s)", fmt.Sprintf("`%q:%q`", t.tag, v.wire))
		}
		e.p("encode%s(e, x.%s)", v.payload, v.name)
	}
	raw := pick(t.hasRaw(), "x.Raw", "nil")
	e.p("default:\ne.Raw(%s, %q)\n}\n}\n", raw, t.name)
}

func (e *emitter) encodeLists(t *goType) {
	a, b := t.variants[0], t.variants[1]
	e.encodeHead(t)
	e.p("if x.%s != nil {\nwire.EncodeSlice(e, x.%s, encode%s)\nreturn\n}", b.name, b.name, b.payload)
	e.p("wire.EncodeSlice(e, x.%s, encode%s)\n}\n", a.name, a.payload)
}

// emitMethods writes the methods by which the JSON library finds the codecs.
func emitMethods(e *emitter, m *model) {
	for _, t := range m.types {
		if t.kind != kindObject && t.kind != kindUnion && t.kind != kindLists || t.half {
			continue
		}
		e.p("// MarshalJSONTo implements [json.MarshalerTo].")
		e.p("func (x *%s) MarshalJSONTo(enc *jsontext.Encoder) error { return wire.Marshal(enc, x, encode%s) }\n", t.name, t.name)
		e.p("// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. It keeps what the schema does not have.")
		e.p("func (x *%s) UnmarshalJSONFrom(dec *jsontext.Decoder) error { return wire.Unmarshal(dec, x, decode%s) }\n", t.name, t.name)
	}
	emitDecodeMessage(e, m)
}

// emitDecodeMessage lets Decode reach the codec of a params or result type.
func emitDecodeMessage(e *emitter, m *model) {
	for _, t := range m.types {
		if t.method != "" && t.kind != kindAlias {
			e.p("func (x *%s) decodeMessage(d *wire.Decoder) error { return decode%s(d, x) }\n", t.name, t.name)
		}
	}
}
