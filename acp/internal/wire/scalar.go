package wire

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Integer is every integer type that the schema uses.
type Integer interface {
	~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64
}

// text reads a string. The bytes may be those of the message.
func (d *Decoder) text() ([]byte, error) {
	if !d.at('"') {
		return nil, Wrong("must be a string")
	}
	v, err := d.value()
	if err != nil {
		return nil, err
	}
	return unquote(v)
}

// DecodeString decodes a string.
func DecodeString[T ~string](d *Decoder, x *T) error {
	s, err := d.text()
	if err == nil {
		*x = T(s)
	}
	return err
}

// DecodeNonEmpty decodes a string of at least one character.
func DecodeNonEmpty[T ~string](d *Decoder, x *T) error {
	err := DecodeString(d, x)
	if err == nil && *x == "" {
		return Wrong("must not be empty")
	}
	return err
}

// DecodeBool decodes a boolean.
func DecodeBool(d *Decoder, x *bool) error {
	if !d.at('t') && !d.at('f') {
		return Wrong("must be true or false")
	}
	*x = d.at('t')
	_, err := d.value()
	return err
}

// DecodeInt decodes an integer that fits in T. A fraction or an exponent is
// refused even where its value would be whole.
func DecodeInt[T Integer](d *Decoder, x *T) error {
	v, err := d.value()
	if err != nil {
		return err
	}
	if ^T(0) > 0 {
		n, err := strconv.ParseUint(string(v), 10, 64)
		if err != nil || uint64(T(n)) != n {
			return Wrong("must be an integer from 0 to %d", ^T(0))
		}
		*x = T(n)
		return nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || int64(T(n)) != n {
		return Wrong("must be an integer of %d bits", signedBits[T]())
	}
	*x = T(n)
	return nil
}

func signedBits[T Integer]() int {
	bits := 0
	for n := T(1); n != 0; n <<= 1 {
		bits++
	}
	return bits
}

// DecodePositive decodes an integer of at least 1.
func DecodePositive[T Integer](d *Decoder, x *T) error {
	err := DecodeInt(d, x)
	if err == nil && *x < 1 {
		return Wrong("must be at least 1")
	}
	return err
}

// DecodeFloat decodes a number.
func DecodeFloat(d *Decoder, x *float64) error {
	v, err := d.value()
	if err != nil {
		return err
	}
	if jsontext.Value(v).Kind() != '0' {
		return Wrong("must be a number")
	}
	if *x, err = strconv.ParseFloat(string(v), 64); err != nil {
		return Wrong("must be a number of 64 bits")
	}
	return nil
}

// DecodeFraction decodes a number from 0 to 1.
func DecodeFraction(d *Decoder, x *float64) error {
	err := DecodeFloat(d, x)
	if err == nil && (*x < 0 || *x > 1) {
		return Wrong("must be from 0 to 1")
	}
	return err
}

// DecodeAny keeps any value as it came.
func DecodeAny(d *Decoder, x *jsontext.Value) error {
	v, err := d.value()
	*x = bytes.Clone(v)
	return err
}

// DecodeObject keeps an object, or null, as it came.
func DecodeObject(d *Decoder, x *jsontext.Value) error {
	if !d.at('{') && !d.at('n') {
		return Wrong("must be an object or null")
	}
	return DecodeAny(d, x)
}

// DecodeKinds keeps a value that is of one of the kinds: " a string, i an
// integer of 64 bits, 0 a number, t a boolean, n null, [ an array of strings,
// * anything.
func DecodeKinds(d *Decoder, x *jsontext.Value, kinds string) error {
	start := d.pos
	for i := range len(kinds) {
		ok := d.ofKind(kinds[i])
		if d.pos = start; ok {
			return DecodeAny(d, x)
		}
	}
	return Wrong("has the wrong type")
}

func (d *Decoder) ofKind(kind byte) bool {
	switch kind {
	case 'i':
		return DecodeInt(d, new(int64)) == nil
	case '0':
		return DecodeFloat(d, new(float64)) == nil
	case '[':
		return DecodeSlice(d, new([]string), DecodeString, 0) == nil
	case 't':
		return DecodeBool(d, new(bool)) == nil
	case '*':
		return true
	}
	return d.at(kind)
}

// DecodeEnum decodes a string that is one of known. Another is kept as it is
// unless the decoder is strict and the enum closed.
func DecodeEnum[T ~string](d *Decoder, x *T, open bool, known ...T) error {
	s, err := d.text()
	if err != nil {
		return err
	}
	for _, value := range known {
		if string(value) == string(s) {
			*x = value // a constant: nothing is allocated
			return nil
		}
	}
	if d.Strict && !open {
		return Unknown(bytes.Clone(s))
	}
	*x = T(s)
	return nil
}

// EncodeString writes a string. Bytes that are not UTF-8 become U+FFFD: a
// tool's output may hold anything, and a turn must not fail on it.
func EncodeString[T ~string](e *Encoder, x *T) {
	e.buf, _ = jsontext.AppendQuote(e.buf, string(*x))
}

// EncodeBool writes a boolean.
func EncodeBool(e *Encoder, x *bool) { e.buf = strconv.AppendBool(e.buf, *x) }

// EncodeInt writes an integer.
func EncodeInt[T Integer](e *Encoder, x *T) {
	if ^T(0) > 0 {
		e.buf = strconv.AppendUint(e.buf, uint64(*x), 10)
		return
	}
	e.buf = strconv.AppendInt(e.buf, int64(*x), 10)
}

// EncodeFloat writes a number.
func EncodeFloat(e *Encoder, x *float64) {
	if math.IsNaN(*x) || math.IsInf(*x, 0) {
		e.fail(Wrong("holds %v, which JSON cannot say", *x))
		return
	}
	e.buf = jsontext.AppendFloat(e.buf, *x, 64)
}

// EncodeAny writes a value as it is; nil as null.
func EncodeAny(e *Encoder, x *jsontext.Value) {
	if len(*x) == 0 {
		e.buf = append(e.buf, "null"...)
		return
	}
	e.buf = append(e.buf, *x...)
}
