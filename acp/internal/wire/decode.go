package wire

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder walks one message. A function that decodes leaves it behind the value
// it has read; after an error the position means nothing, and whoever forgives
// the error goes on from where the value began.
type Decoder struct {
	// Strict makes values that a closed enum or union does not have an error,
	// as the official parsers do. Otherwise they are kept as they came.
	Strict bool

	buf []byte
	pos int // of the next value

	// skip lists the members of the object about to be decoded that belong to
	// somebody else: the discriminator of the union around it, the members of
	// its variant. They are not extra. Names are separated by commas.
	skip string
}

// Func decodes the next value of d into x.
type Func[T any] func(d *Decoder, x *T) error

// Unmarshal reads the next value of dec into x and keeps what it does not know.
func Unmarshal[T any](dec *jsontext.Decoder, x *T, f Func[T]) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return f(&Decoder{buf: v}, x)
}

// DecodeChecked is Decode for bytes that nobody has checked.
func DecodeChecked(raw jsontext.Value, decode func(*Decoder) error, strict bool) error {
	raw = orEmpty(raw)
	if !raw.IsValid() {
		return errInvalid()
	}
	return decode(&Decoder{buf: raw, pos: skipSpace(raw, 0), Strict: strict})
}

// Decode reads raw, which jsontext must have accepted, into x.
func Decode[T any](raw jsontext.Value, x *T, f Func[T], strict bool) error {
	return f(&Decoder{buf: raw, pos: skipSpace(raw, 0), Strict: strict}, x)
}

// at reports whether the next value begins with c.
func (d *Decoder) at(c byte) bool { return d.pos < len(d.buf) && d.buf[d.pos] == c }

// value returns the bytes of the next value and moves behind it.
func (d *Decoder) value() ([]byte, error) {
	start, end := d.pos, scanValue(d.buf, d.pos)
	if end < 0 {
		return nil, errInvalid()
	}
	d.pos = end
	return d.buf[start:end], nil
}

// null moves behind the next value if it is null.
func (d *Decoder) null() bool {
	if !d.at('n') {
		return false
	}
	_, err := d.value()
	return err == nil
}

// Skip names members of the next object that are not extra.
func (d *Decoder) Skip(names string) {
	if d.skip != "" {
		names = d.skip + "," + names
	}
	d.skip = names
}

// Start is where the next value begins, for Rewind.
func (d *Decoder) Start() int { return d.pos }

// Rewind goes back to a value that is decoded once more.
func (d *Decoder) Rewind(start int) { d.pos = start }

// Tag returns the text of the discriminator called name of the next value,
// which must be an object, and does not move. The result is nil when there is
// none or it is not a string.
func (d *Decoder) Tag(name string) ([]byte, error) {
	if !d.at('{') {
		d.skip = ""
		return nil, Wrong("must be an object")
	}
	return d.tag(name), nil
}

func (d *Decoder) tag(name string) []byte {
	member := d.find(name)
	if len(member) < 2 || member[0] != '"' {
		return nil
	}
	text, err := unquote(member)
	if err != nil {
		return nil
	}
	return text
}

// Kind is the discriminator of a variant kept raw, empty when there is none.
func Kind(raw []byte, name string) string { return string((&Decoder{buf: raw}).tag(name)) }

// find returns the value of the member called name of the next value, nil when
// that is no object or has none. It does not move.
func (d *Decoder) find(name string) (member []byte) {
	pos, skip := d.pos, d.skip
	var o Object
	for ok := o.Open(d) == nil && o.Next(); ok; ok = o.Next() {
		value, err := d.value()
		if err != nil {
			break
		}
		if string(o.Key) == name {
			member = value
			break
		}
	}
	d.pos, d.skip = pos, skip
	return member
}

// Has reports whether the next value is an object with all of the members.
func (d *Decoder) Has(names ...string) bool {
	for _, name := range names {
		if d.find(name) == nil {
			return false
		}
	}
	return true
}

// NeedAll names the first of the members that the next value lacks.
func (d *Decoder) NeedAll(names ...string) error {
	for _, name := range names {
		if !d.Has(name) {
			return &FieldError{Path: name, Problem: "is required"}
		}
	}
	return nil
}

// NeedAny is an error when the next value has none of the members.
func (d *Decoder) NeedAny(names ...string) error {
	for _, name := range names {
		if d.Has(name) {
			return nil
		}
	}
	return Wrong("needs one of %s", strings.Join(names, ", "))
}

// Missing names the first required member that was not seen. Names are in the
// order of their bits. A decoder that is not strict lets those in optional miss.
func (d *Decoder) Missing(seen, optional uint64, names ...string) error {
	if !d.Strict {
		seen |= optional
	}
	for i, name := range names {
		if seen&(1<<i) == 0 {
			return &FieldError{Path: name, Problem: "is required"}
		}
	}
	return nil
}

// UnknownVariant keeps the next value, a variant that its union does not have,
// unless the decoder is strict and the union closed. Tag is the discriminator's
// name and kind its text, nil when it is missing.
func (d *Decoder) UnknownVariant(raw *jsontext.Value, open bool, tag string, kind []byte) error {
	skip := d.skip
	d.skip = ""
	if err := d.UnknownHalf(kind, open, tag); err != nil {
		return err
	}
	if skip == "" {
		return DecodeAny(d, raw)
	}
	d.skip = skip
	var o Object
	if err := o.Open(d); err != nil {
		return err
	}
	for o.Next() {
		if err := o.Keep(); err != nil {
			return err
		}
	}
	var err error
	*raw, err = o.End()
	return err
}

// UnknownHalf judges a discriminator that an object with variants does not
// have. Where it may stay, its members are extra.
func (d *Decoder) UnknownHalf(kind []byte, open bool, tag string) error {
	switch {
	case kind == nil:
		return &FieldError{Path: tag, Problem: "is required and must be a string"}
	case d.Strict && !open:
		return At(Unknown(bytes.Clone(kind)), tag)
	}
	return nil
}
