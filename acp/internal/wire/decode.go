package wire

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoder carries what the decoding of one message has to know.
type Decoder struct {
	// Strict makes values that a closed enum or union does not have an error,
	// as the official parsers do. Otherwise they are kept as they came.
	Strict bool

	// skip lists the members of the object about to be decoded that belong to
	// somebody else: the discriminator of the union around it, the members of
	// its variant. They are not extra. Names are separated by commas.
	skip string
}

// Func decodes the value v into x.
type Func[T any] func(d *Decoder, v []byte, x *T) error

// Unmarshal reads the next value of dec into x and keeps what it does not know.
func Unmarshal[T any](dec *jsontext.Decoder, x *T, f Func[T]) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return f(&Decoder{}, v, x)
}

// Skip names members of the next object that are not extra.
func (d *Decoder) Skip(names string) {
	if d.skip != "" {
		names = d.skip + "," + names
	}
	d.skip = names
}

// Object walks the members of one object.
type Object struct {
	Key   []byte // unescaped
	Value []byte

	buf   []byte
	pos   int
	skip  string
	extra []byte
	bad   bool
}

// Object starts to walk v, which must be an object.
func (d *Decoder) Object(v []byte) (Object, error) {
	o := Object{buf: v, pos: 1, skip: d.skip}
	d.skip = ""
	if len(v) == 0 || v[0] != '{' {
		return o, Wrong("must be an object")
	}
	return o, nil
}

// Next moves to the next member. It returns false at the end.
func (o *Object) Next() bool {
	i := skipSpace(o.buf, o.pos)
	if i < len(o.buf) && o.buf[i] == ',' {
		i = skipSpace(o.buf, i+1)
	}
	if i >= len(o.buf) || o.buf[i] != '"' {
		o.bad = i >= len(o.buf) || o.buf[i] != '}'
		return false
	}
	end := scanString(o.buf, i)
	if end < 0 {
		o.bad = true
		return false
	}
	key, err := unquote(o.buf[i:end])
	if i = skipSpace(o.buf, end); err != nil || i >= len(o.buf) || o.buf[i] != ':' {
		o.bad = true
		return false
	}
	i = skipSpace(o.buf, i+1)
	if end = scanValue(o.buf, i); end < 0 {
		o.bad = true
		return false
	}
	o.Key, o.Value, o.pos = key, o.buf[i:end], end
	return true
}

// KeepExtra keeps the member at hand, which the type does not know.
func (o *Object) KeepExtra() {
	if o.skip != "" && listed(o.skip, o.Key) {
		return
	}
	if o.extra == nil {
		o.extra = append(o.extra, '{')
	} else {
		o.extra = append(o.extra, ',')
	}
	// A name that was valid on the way in can be quoted.
	o.extra, _ = jsontext.AppendQuote(o.extra, o.Key)
	o.extra = append(o.extra, ':')
	o.extra = append(o.extra, o.Value...)
}

// Rest takes the member at hand, which is none of the type's own: it is _meta,
// which is dropped when it is neither an object nor null, or extra.
func (o *Object) Rest(meta *jsontext.Value) {
	if string(o.Key) != "_meta" {
		o.KeepExtra()
		return
	}
	_ = DecodeObject(nil, o.Value, meta)
}

// End returns the members kept as extra, as an object, or nil for none.
func (o *Object) End() (jsontext.Value, error) {
	if o.bad {
		return nil, Wrong("is not valid JSON")
	}
	if o.extra == nil {
		return nil, nil
	}
	return append(o.extra, '}'), nil
}

// DecodeEmpty decodes an object that has no members of its own but _meta.
func DecodeEmpty(d *Decoder, v []byte, meta, extra *jsontext.Value) error {
	*meta, *extra = nil, nil
	o, err := d.Object(v)
	if err != nil {
		return err
	}
	for o.Next() {
		o.Rest(meta)
	}
	*extra, err = o.End()
	return err
}

func listed(list string, name []byte) bool {
	for len(list) > 0 {
		head, tail, _ := strings.Cut(list, ",")
		if head == string(name) {
			return true
		}
		list = tail
	}
	return false
}

// Tag returns the text of the discriminator called name of the object v. The
// result is nil when there is none or it is not a string.
func (d *Decoder) Tag(v []byte, name string) ([]byte, error) {
	tag, err := tagOf(v, name)
	if err != nil {
		d.skip = ""
	}
	return tag, err
}

func tagOf(v []byte, name string) ([]byte, error) {
	member, err := Find(v, name)
	if err != nil || len(member) < 2 || member[0] != '"' {
		return nil, err
	}
	return unquote(member)
}

// Kind is the discriminator of a variant kept raw, empty when there is none.
func Kind(raw []byte, name string) string {
	tag, _ := tagOf(raw, name) // what is no object has no kind
	return string(tag)
}

// Find returns the value of the member called name of the object v, nil when
// there is none.
func Find(v []byte, name string) ([]byte, error) {
	o, err := new(Decoder).Object(v)
	if err != nil {
		return nil, err
	}
	for o.Next() {
		if string(o.Key) == name {
			return o.Value, nil
		}
	}
	_, err = o.End()
	return nil, err
}

// Has reports whether the object v has every one of the members.
func Has(v []byte, names ...string) bool {
	for _, name := range names {
		if member, err := Find(v, name); err != nil || member == nil {
			return false
		}
	}
	return true
}

// NeedAll names the first of the members that the object v lacks.
func NeedAll(v []byte, names ...string) error {
	for _, name := range names {
		if !Has(v, name) {
			return &FieldError{Path: name, Problem: "is required"}
		}
	}
	return nil
}

// NeedAny is an error when the object v has none of the members.
func NeedAny(v []byte, names ...string) error {
	for _, name := range names {
		if Has(v, name) {
			return nil
		}
	}
	return Wrong("needs one of %s", strings.Join(names, ", "))
}

// Missing names the first required member that was not seen. A decoder that is
// not strict lets those in optional miss.
func (d *Decoder) Missing(seen, optional uint64, names ...string) error {
	if !d.Strict {
		seen |= optional
	}
	return Missing(seen, names...)
}

// UnknownVariant keeps v, a variant that its union does not have, unless the
// decoder is strict and the union closed. Tag is the discriminator's name and
// kind its text, nil when it is missing.
func (d *Decoder) UnknownVariant(v []byte, raw *jsontext.Value, open bool, tag string, kind []byte) error {
	skip := d.skip
	d.skip = ""
	if err := d.UnknownHalf(kind, open, tag); err != nil {
		return err
	}
	if skip == "" {
		*raw = bytes.Clone(v)
		return nil
	}
	d.skip = skip
	o, err := d.Object(v)
	if err != nil {
		return err
	}
	for o.Next() {
		o.KeepExtra()
	}
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
		return At(Unknown(kind), tag)
	}
	return nil
}
