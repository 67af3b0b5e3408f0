package main

import "strings"

// emitTypes writes the structs and the aliases.
func emitTypes(e *emitter, m *model) {
	for _, t := range m.types {
		switch t.kind {
		case kindAlias:
			e.doc(t, "")
			e.p("type %s = %s\n", t.name, t.target)
		case kindObject:
			e.object(t)
		}
	}
}

func (e *emitter) object(t *goType) {
	rest := ""
	if t.half {
		rest = " Its members stand beside those of the object around it."
	}
	e.doc(t, rest)
	e.p("type %s struct {", t.name)
	for _, f := range t.fields {
		if f.unstable {
			e.p("// Unstable: not in the stable schema.")
		}
		e.p("%s %s%s", f.name, f.goType(), pick(f.required, " // required", ""))
	}
	e.variants(t)
	if !t.noMeta {
		e.p("\nMeta jsontext.Value // _meta: an object or null; nil when absent")
	}
	if !t.half {
		e.p("Extra jsontext.Value // an object of the members the schema does not have; nil for none")
	}
	e.p("}\n")
	if t.byValue {
		e.isZero(t)
	}
}

func (e *emitter) variants(t *goType) {
	if len(t.variants) == 0 {
		return
	}
	e.p("\n// At most one of these is set.")
	for _, v := range t.variants {
		note := ""
		if v.wire != "" {
			note = " // " + t.tag + " " + v.wire
		}
		if v.unstable {
			e.p("// Unstable: not in the stable schema.")
		}
		e.p("%s *%s%s", v.name, v.payload, note)
	}
}

// goType is the Go type of the field.
func (f *field) goType() string {
	elem := f.elem.goType
	switch f.shape {
	case shapeSlice:
		elem = "[]" + elem
	case shapeMap:
		elem = "map[string]" + elem
	case shapeMembers:
		elem = "acp.Members[" + elem + "]"
	}
	switch {
	case f.patch:
		return "acp.Opt[" + elem + "]"
	case f.isPointer():
		return "*" + elem
	}
	return elem
}

func (f *field) isPointer() bool {
	return f.shape == shapeOne && !f.patch && !f.elem.raw && (f.nullable || f.pointer)
}

// present is the condition under which an optional field is written.
func (f *field) present() string {
	x := "x." + f.name
	switch {
	case f.elem.raw && f.shape == shapeOne, f.shape != shapeOne, f.isPointer():
		return x + " != nil"
	case f.patch:
		return x + ".Presence != acp.Absent"
	case f.elem.object:
		return "!" + x + ".isZero()"
	case f.elem.boolean:
		return x
	case f.elem.enumOrString:
		return x + ` != ""`
	}
	return x + " != 0"
}

// absent is the opposite of present.
func (f *field) absent() string {
	cond := f.present()
	if inner, negated := strings.CutPrefix(cond, "!"); negated {
		return inner
	}
	if strings.Contains(cond, " != ") {
		return strings.Replace(cond, " != ", " == ", 1)
	}
	return "!" + cond
}

// isZero writes the test for a struct that is absent when it is zero.
func (e *emitter) isZero(t *goType) {
	cond := "x.Extra == nil"
	if !t.noMeta {
		cond += " && x.Meta == nil"
	}
	for _, f := range t.fields {
		cond += " && " + f.absent()
	}
	e.p("func (x *%s) isZero() bool {\nreturn %s\n}\n", t.name, cond)
}

// emitEnums writes the enums.
func emitEnums(e *emitter, m *model) {
	for _, t := range m.types {
		switch t.kind {
		case kindEnum:
			e.enum(t)
		case kindCode:
			e.doc(t, " Other values may occur.")
			e.p("type %s int32\n", t.name)
			e.constants(t, t.name, "%s")
		}
	}
	e.p("// The methods of the protocol.\nconst (")
	for _, method := range m.methods {
		e.p("%s = %q%s", method.name, method.wire, pick(method.unstable, " // unstable", ""))
	}
	e.p(")")
}

func (e *emitter) enum(t *goType) {
	e.doc(t, pick(t.open, " Other values may occur.", ""))
	e.p("type %s string\n", t.name)
	e.constants(t, t.name, "%q")
	e.p("// Known reports whether the schema has x.")
	e.p("func (x %s) Known() bool {\nswitch x {\ncase %s:\nreturn true\n}\nreturn false\n}\n", t.name, t.constantList())
}

func (e *emitter) constants(t *goType, typ, verb string) {
	e.p("// The values of %s.\nconst (", t.name)
	for _, v := range t.values {
		e.p("%s%s %s = "+verb+"%s", t.name, v.name, typ, v.wire, pick(v.unstable, " // unstable", ""))
	}
	e.p(")\n")
}

func (t *goType) constantList() string {
	out := ""
	for i, v := range t.values {
		if i > 0 {
			out += ", "
		}
		out += t.name + v.name
	}
	return out
}

// emitUnions writes the unions and their kinds.
func emitUnions(e *emitter, m *model) {
	for _, t := range m.types {
		switch {
		case t.kind == kindLists:
			e.lists(t)
		case t.kind == kindUnion:
			e.union(t)
		}
	}
}

func (e *emitter) lists(t *goType) {
	e.doc(t, " At most one of its lists is set.")
	e.p("type %s struct {", t.name)
	for _, v := range t.variants {
		e.p("%s []%s", v.name, v.payload)
	}
	e.p("}\n")
}

func (t *goType) hasRaw() bool { return t.tag != "" }

func (e *emitter) union(t *goType) {
	e.doc(t, " Exactly one of its fields is set.")
	e.p("type %s struct {", t.name)
	for _, v := range t.variants {
		note := ""
		if v.wire != "" {
			note = " // " + v.wire
		}
		if v.unstable {
			e.p("// Unstable: not in the stable schema.")
		}
		e.p("%s *%s%s", v.name, v.payload, note)
	}
	if t.hasRaw() {
		e.p("\nRaw jsontext.Value // a variant that the schema does not have, as it came")
	}
	e.p("}\n")
	e.kinds(t)
}

// kinds writes the constants and the Kind method of a union.
func (e *emitter) kinds(t *goType) {
	e.p("// The kinds of %s.\nconst (", t.name)
	for _, v := range t.variants {
		e.p("%sKind%s = %q", t.name, v.name, v.kind())
	}
	e.p(")\n")
	e.p("// Kind returns the discriminator of the variant, also of one that the schema")
	e.p("// does not have; it is empty when none is set.")
	e.p("func (x *%s) Kind() string {\nswitch {", t.name)
	for _, v := range t.variants {
		e.p("case x.%s != nil:\nreturn %sKind%s", v.name, t.name, v.name)
	}
	e.p("}")
	if t.hasRaw() {
		e.p("return wire.Kind(x.Raw, %q)\n}\n", t.tag)
		return
	}
	e.p("return \"\"\n}\n")
}

func (v *variant) kind() string {
	if v.wire != "" {
		return v.wire
	}
	return v.label
}
