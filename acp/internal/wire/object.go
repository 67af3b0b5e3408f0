package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Object walks the members of one object. Each member that Next has found must
// be read before the next Next: by a decoding function, Rest, Keep or Ignore.
type Object struct {
	Key []byte // unescaped

	d     *Decoder
	start int // of the member's value
	skip  string
	extra []byte
	bad   bool
}

// Open starts to walk the next value of d, which must be an object.
func (o *Object) Open(d *Decoder) error {
	o.d, o.skip = d, d.skip
	d.skip = ""
	if !d.at('{') {
		return Wrong("must be an object")
	}
	d.pos++
	return nil
}

// Next moves to the value of the next member. It returns false at the end.
func (o *Object) Next() bool {
	b := o.d.buf
	i := skipSpace(b, o.d.pos)
	if i < len(b) && b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	if i >= len(b) || b[i] != '"' {
		o.bad = i >= len(b) || b[i] != '}'
		o.d.pos = i + 1
		return false
	}
	end := scanString(b, i)
	if end < 0 {
		o.bad = true
		return false
	}
	key, err := unquote(b[i:end])
	if i = skipSpace(b, end); err != nil || i >= len(b) || b[i] != ':' {
		o.bad = true
		return false
	}
	o.start = skipSpace(b, i+1)
	o.Key, o.d.pos = key, o.start
	return true
}

// Ignore moves behind the member's value.
func (o *Object) Ignore() error {
	_, err := o.d.value()
	return err
}

// Keep keeps the member, which the type does not know, as extra.
func (o *Object) Keep() error {
	value, err := o.d.value()
	if err != nil || o.skip != "" && listed(o.skip, o.Key) {
		return err
	}
	if o.extra == nil {
		o.extra = append(o.extra, '{')
	} else {
		o.extra = append(o.extra, ',')
	}
	// A name that was valid on the way in can be quoted.
	o.extra, _ = jsontext.AppendQuote(o.extra, o.Key)
	o.extra = append(o.extra, ':')
	o.extra = append(o.extra, value...)
	return nil
}

// Rest reads a member that is none of the type's own: it is _meta, which is
// dropped when it is neither an object nor null, or extra.
func (o *Object) Rest(meta *jsontext.Value) error {
	if string(o.Key) != "_meta" {
		return o.Keep()
	}
	return OrZero(o, meta, DecodeObject(o.d, meta))
}

// End returns the members kept as extra, as an object, or nil for none.
func (o *Object) End() (jsontext.Value, error) {
	if o.bad {
		return nil, errInvalid()
	}
	if o.extra == nil {
		return nil, nil
	}
	return append(o.extra, '}'), nil
}

// OrZero forgets an error and with it whatever was decoded of the member: the
// schema's x-deserialize-default-on-error.
func OrZero[T any](o *Object, x *T, err error) error {
	if err == nil {
		return nil
	}
	*x = *new(T)
	o.d.skip = ""
	o.d.pos = o.start
	return o.Ignore()
}

// DecodeEmpty decodes an object that has no members of its own but _meta.
func DecodeEmpty(d *Decoder, meta, extra *jsontext.Value) error {
	*meta, *extra = nil, nil
	var o Object
	if err := o.Open(d); err != nil {
		return err
	}
	for o.Next() {
		if err := o.Rest(meta); err != nil {
			return err
		}
	}
	var err error
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
