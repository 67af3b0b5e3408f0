package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Encoder builds one message. Its functions never stop half-way: the first
// error is kept and returned by Marshal.
type Encoder struct {
	buf []byte
	tag string // members to write at the start of the next object
	err error
}

// Marshal writes x as the next value of enc. The whole value is checked on the
// way out, so bytes kept raw cannot break the message around them.
func Marshal[T any](enc *jsontext.Encoder, x *T, f func(*Encoder, *T)) error {
	e := Encoder{buf: enc.AvailableBuffer()}
	f(&e, x)
	if e.err != nil {
		return e.err
	}
	return enc.WriteValue(e.buf)
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// Tag puts a discriminator, written as "name":"value", at the start of the
// next object.
func (e *Encoder) Tag(member string) {
	if e.tag != "" {
		member = e.tag + "," + member
	}
	e.tag = member
}

// Begin opens an object.
func (e *Encoder) Begin() {
	e.buf = append(e.buf, '{')
	e.buf = append(e.buf, e.tag...)
	e.tag = ""
}

// End closes an object.
func (e *Encoder) End() { e.buf = append(e.buf, '}') }

// Key starts a member; name needs no escaping.
func (e *Encoder) Key(name string) {
	e.comma()
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"', ':')
}

// Member writes a member whose name and value need no escaping.
func (e *Encoder) Member(name, value string) {
	e.Key(name)
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, value...)
	e.buf = append(e.buf, '"')
}

func (e *Encoder) name(name string) {
	e.comma()
	EncodeString(e, &name)
	e.buf = append(e.buf, ':')
}

func (e *Encoder) comma() {
	if e.buf[len(e.buf)-1] != '{' {
		e.buf = append(e.buf, ',')
	}
}

// Meta writes the member _meta, or nothing when it is nil.
func (e *Encoder) Meta(x jsontext.Value) {
	if x != nil {
		e.Key("_meta")
		EncodeAny(e, &x)
	}
}

// EncodeEmpty writes an object that has no members of its own but _meta.
func EncodeEmpty(e *Encoder, meta, extra jsontext.Value) {
	e.Begin()
	e.Meta(meta)
	e.Extra(extra)
	e.End()
}

// Extra writes the members of an object kept by Object.End.
func (e *Encoder) Extra(x jsontext.Value) {
	if len(x) == 0 {
		return
	}
	inner := bytes.TrimSpace(x)
	if len(inner) < 2 || inner[0] != '{' || inner[len(inner)-1] != '}' {
		e.fail(Wrong("has an Extra that is not an object"))
		return
	}
	if inner = bytes.TrimSpace(inner[1 : len(inner)-1]); len(inner) > 0 {
		e.comma()
		e.buf = append(e.buf, inner...)
	}
}

// Raw writes a variant kept by UnknownVariant. A nil raw is an error that
// names the union: a union without a variant cannot be written.
func (e *Encoder) Raw(raw jsontext.Value, union string) {
	switch {
	case len(raw) == 0:
		e.fail(Wrong("has a %s with no variant set", union))
	case e.tag == "":
		e.buf = append(e.buf, raw...)
	default:
		e.Begin()
		e.Extra(raw)
		e.End()
	}
}
