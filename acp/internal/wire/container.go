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

// DecodePtr decodes into a new T, or leaves nil for null.
func DecodePtr[T any](d *Decoder, x **T, f Func[T]) error {
	*x = nil
	if d.null() {
		return nil
	}
	return DecodeNew(d, x, f)
}

// DecodeNew decodes into a new T.
func DecodeNew[T any](d *Decoder, x **T, f Func[T]) error {
	*x = nil
	t := new(T)
	err := f(d, t)
	if err == nil {
		*x = t
	}
	return err
}

// DecodeOpt decodes a member of a patch.
func DecodeOpt[T any](d *Decoder, x *acp.Opt[T], f Func[T]) error {
	if d.null() {
		*x = acp.None[T]()
		return nil
	}
	var t T
	err := f(d, &t)
	if err == nil {
		*x = acp.Some(t)
	}
	return err
}

// DecodeSlice decodes an array.
func DecodeSlice[T any](d *Decoder, x *[]T, f Func[T], rules Rules) error {
	*x = nil
	if rules&NullIsEmpty != 0 && d.null() {
		return nil
	}
	if !d.at('[') {
		return Wrong("must be an array")
	}
	items := []T{}
	d.pos++
	for n := 0; d.nextItem(); n++ {
		var item T
		kept, err := decodeItem(d, &item, f, rules)
		if err != nil {
			return atIndex(err, n)
		}
		if kept {
			items = append(items, item)
		}
	}
	if !d.at(']') {
		return errInvalid()
	}
	d.pos++
	if rules&AtLeastOne != 0 && len(items) == 0 {
		return Wrong("must not be empty")
	}
	*x = items
	return nil
}

// nextItem moves to the next item of an array and reports whether there is one.
func (d *Decoder) nextItem() bool {
	if d.pos = skipSpace(d.buf, d.pos); d.at(',') {
		d.pos = skipSpace(d.buf, d.pos+1)
	}
	return d.pos < len(d.buf) && d.buf[d.pos] != ']'
}

// decodeItem decodes one item, or steps over it when it is bad and may be.
func decodeItem[T any](d *Decoder, item *T, f Func[T], rules Rules) (kept bool, err error) {
	start := d.pos
	if err = f(d, item); err == nil || rules&DropBad == 0 {
		return true, err
	}
	d.skip = ""
	d.pos = start
	_, err = d.value()
	return false, err
}

// SliceOf is DecodeSlice as a Func.
func SliceOf[T any](f Func[T], rules Rules) Func[[]T] {
	return func(d *Decoder, x *[]T) error { return DecodeSlice(d, x, f, rules) }
}

// DecodeMap decodes an object whose names are data.
func DecodeMap[T any](d *Decoder, x *map[string]T, f Func[T], rules Rules) error {
	var members acp.Members[T]
	*x = nil
	if err := DecodeMembers(d, &members, f, rules); err != nil || members == nil {
		return err
	}
	m := make(map[string]T, len(members))
	for _, member := range members {
		m[member.Name] = member.Value
	}
	*x = m
	return nil
}

// DecodeMembers decodes an object whose names are data and in order.
func DecodeMembers[T any](d *Decoder, x *acp.Members[T], f Func[T], rules Rules) error {
	*x = nil
	if rules&NullIsEmpty != 0 && d.null() {
		return nil
	}
	var o Object
	if err := o.Open(d); err != nil {
		return err
	}
	members := acp.Members[T]{}
	for o.Next() {
		member := acp.Member[T]{Name: string(o.Key)}
		if err := f(d, &member.Value); err != nil {
			return At(err, member.Name)
		}
		members = append(members, member)
	}
	*x = members
	_, err := o.End()
	return err
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
