package wire

import (
	"maps"
	"slices"

	"github.com/grapnel-ai/grapnel/acp"
)

// Rules says how an array or a map is read.
type Rules uint8

// The rules a schema can set on an array or a map.
const (
	NullIsEmpty Rules = 1 << iota // null reads as empty (x-deserialize-default-on-null, or nullable)
	DropBad                       // items that do not decode are left out (x-deserialize-skip-invalid-items)
	AtLeastOne                    // an empty array is refused
)

// DecodePtr decodes v into a new T, or leaves nil for null.
func DecodePtr[T any](d *Decoder, v []byte, x **T, f Func[T]) error {
	*x = nil
	if isNull(v) {
		return nil
	}
	t := new(T)
	if err := f(d, v, t); err != nil {
		return err
	}
	*x = t
	return nil
}

// DecodeOpt decodes a member of a patch.
func DecodeOpt[T any](d *Decoder, v []byte, x *acp.Opt[T], f Func[T]) error {
	if isNull(v) {
		*x = acp.None[T]()
		return nil
	}
	var t T
	if err := f(d, v, &t); err != nil {
		return err
	}
	*x = acp.Some(t)
	return nil
}

// DecodeSlice decodes an array.
func DecodeSlice[T any](d *Decoder, v []byte, x *[]T, f Func[T], rules Rules) error {
	*x = nil
	if rules&NullIsEmpty != 0 && isNull(v) {
		return nil
	}
	if len(v) == 0 || v[0] != '[' {
		return Wrong("must be an array")
	}
	items := []T{}
	for i, n := skipSpace(v, 1), 0; i < len(v) && v[i] != ']'; n++ {
		end := scanValue(v, i)
		if end < 0 {
			return Wrong("is not valid JSON")
		}
		var item T
		err := f(d, v[i:end], &item)
		if err == nil {
			items = append(items, item)
		} else if rules&DropBad == 0 {
			return atIndex(err, n)
		}
		if i = skipSpace(v, end); i < len(v) && v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
	if rules&AtLeastOne != 0 && len(items) == 0 {
		return Wrong("must not be empty")
	}
	*x = items
	return nil
}

// SliceOf is DecodeSlice as a Func.
func SliceOf[T any](f Func[T], rules Rules) Func[[]T] {
	return func(d *Decoder, v []byte, x *[]T) error { return DecodeSlice(d, v, x, f, rules) }
}

// DecodeMap decodes an object whose names are data.
func DecodeMap[T any](d *Decoder, v []byte, x *map[string]T, f Func[T], rules Rules) error {
	*x = nil
	if rules&NullIsEmpty != 0 && isNull(v) {
		return nil
	}
	o, err := d.Object(v)
	if err != nil {
		return err
	}
	m := map[string]T{}
	for o.Next() {
		var item T
		if err := f(d, o.Value, &item); err != nil {
			return At(err, string(o.Key))
		}
		m[string(o.Key)] = item
	}
	*x = m
	_, err = o.End()
	return err
}

// DecodeMembers decodes an object whose names are data and in order.
func DecodeMembers[T any](d *Decoder, v []byte, x *acp.Members[T], f Func[T], rules Rules) error {
	*x = nil
	if rules&NullIsEmpty != 0 && isNull(v) {
		return nil
	}
	o, err := d.Object(v)
	if err != nil {
		return err
	}
	members := acp.Members[T]{}
	for o.Next() {
		member := acp.Member[T]{Name: string(o.Key)}
		if err := f(d, o.Value, &member.Value); err != nil {
			return At(err, member.Name)
		}
		members = append(members, member)
	}
	*x = members
	_, err = o.End()
	return err
}

// OrZero forgets an error and with it whatever was decoded: the schema's
// x-deserialize-default-on-error.
func OrZero[T any](x *T, err error) error {
	if err != nil {
		*x = *new(T)
	}
	return nil
}

// EncodeSlice writes an array; nil as [].
func EncodeSlice[T any](e *Encoder, x []T, f func(*Encoder, *T)) {
	e.buf = append(e.buf, '[')
	for i := range x {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		f(e, &x[i])
	}
	e.buf = append(e.buf, ']')
}

// PutSlice is EncodeSlice as a function of a pointer.
func PutSlice[T any](f func(*Encoder, *T)) func(*Encoder, *[]T) {
	return func(e *Encoder, x *[]T) { EncodeSlice(e, *x, f) }
}

// EncodeMap writes a map with its names in order; nil as {}.
func EncodeMap[T any](e *Encoder, x map[string]T, f func(*Encoder, *T)) {
	e.Begin()
	for _, name := range slices.Sorted(maps.Keys(x)) {
		item := x[name]
		e.name(name)
		f(e, &item)
	}
	e.End()
}

// EncodeMembers writes an object in the order of its members; nil as {}.
func EncodeMembers[T any](e *Encoder, x acp.Members[T], f func(*Encoder, *T)) {
	e.Begin()
	for i := range x {
		e.name(x[i].Name)
		f(e, &x[i].Value)
	}
	e.End()
}

// EncodeOpt writes a member of a patch, or nothing when it is absent.
func EncodeOpt[T any](e *Encoder, key string, x *acp.Opt[T], f func(*Encoder, *T)) {
	switch x.Presence {
	case acp.Null:
		e.Key(key)
		e.buf = append(e.buf, "null"...)
	case acp.Present:
		e.Key(key)
		f(e, &x.Value)
	}
}
