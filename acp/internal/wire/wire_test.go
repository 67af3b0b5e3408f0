package wire

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
)

func decodeInto[T any](in string, f Func[T]) (T, error) {
	var x T
	err := Decode(jsontext.Value(in), &x, f, true)
	return x, err
}

func TestIntegers(t *testing.T) {
	accepts := func(name, in string, err error, want bool) {
		t.Helper()
		if (err == nil) != want {
			t.Errorf("%s of %s: error %v", name, in, err)
		}
	}
	for _, tc := range []struct {
		in                      string
		u16, u32, u64, i32, i64 bool
	}{
		{"0", true, true, true, true, true},
		{"65535", true, true, true, true, true},
		{"65536", false, true, true, true, true},
		{"2147483648", false, true, true, false, true},
		{"4294967296", false, false, true, false, true},
		{"9223372036854775808", false, false, true, false, false},
		{"18446744073709551616", false, false, false, false, false},
		{"-1", false, false, false, true, true},
		{"-2147483649", false, false, false, false, true},
		{"1.0", false, false, false, false, false},
		{"1e2", false, false, false, false, false},
		{`"1"`, false, false, false, false, false},
		{"null", false, false, false, false, false},
		{"[1]", false, false, false, false, false},
	} {
		_, err := decodeInto(tc.in, DecodeInt[uint16])
		accepts("u16", tc.in, err, tc.u16)
		_, err = decodeInto(tc.in, DecodeInt[uint32])
		accepts("u32", tc.in, err, tc.u32)
		_, err = decodeInto(tc.in, DecodeInt[uint64])
		accepts("u64", tc.in, err, tc.u64)
		_, err = decodeInto(tc.in, DecodeInt[int32])
		accepts("i32", tc.in, err, tc.i32)
		_, err = decodeInto(tc.in, DecodeInt[int64])
		accepts("i64", tc.in, err, tc.i64)
	}
	if _, err := decodeInto("0", DecodePositive[uint32]); err == nil {
		t.Error("0 was accepted as positive")
	}
	if n, err := decodeInto("-7", DecodeInt[int64]); n != -7 || err != nil {
		t.Errorf("-7 read as %d, %v", n, err)
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[string]float64{"1": 1, "-0.5e1": -5, "1e999": math.NaN(), `"1"`: math.NaN(), "null": math.NaN()} {
		got, err := decodeInto(in, DecodeFloat)
		if math.IsNaN(want) != (err != nil) || err == nil && got != want {
			t.Errorf("%s read as %v, %v", in, got, err)
		}
	}
	for in, ok := range map[string]bool{"0": true, "1": true, "1.01": false, "-0.01": false} {
		if _, err := decodeInto(in, DecodeFraction); (err == nil) != ok {
			t.Errorf("fraction %s: %v", in, err)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, tc := range []struct {
		kinds, in string
		want      bool
	}{
		{`"i`, `"a"`, true},
		{`"i`, `7`, true},
		{`"i`, `7.5`, false},
		{`"i`, `null`, false},
		{`n"i`, `null`, true},
		{`"0t[`, `1.5`, true},
		{`"0t[`, `true`, true},
		{`"0t[`, `["a"]`, true},
		{`"0t[`, `[1]`, false},
		{`"0t[`, `{}`, false},
		{`*`, `{}`, true},
	} {
		got, err := decodeInto(tc.in, func(d *Decoder, x *jsontext.Value) error { return DecodeKinds(d, x, tc.kinds) })
		if (err == nil) != tc.want || err == nil && string(got) != tc.in {
			t.Errorf("%s as %s: %s, %v", tc.in, tc.kinds, got, err)
		}
	}
}

func TestSlices(t *testing.T) {
	for _, tc := range []struct {
		in    string
		rules Rules
		want  []string
		err   string
	}{
		{`[ "a" , "b" ]`, 0, []string{"a", "b"}, ""},
		{`[]`, 0, []string{}, ""},
		{`[]`, AtLeastOne, nil, "must not be empty"},
		{`[1]`, AtLeastOne | DropBad, nil, "must not be empty"},
		{`["a",1,{"b":[2]},"c"]`, DropBad, []string{"a", "c"}, ""},
		{`["a",1]`, 0, nil, "[1] must be a string"},
		{`null`, NullIsEmpty, nil, ""},
		{`null`, 0, nil, "must be an array"},
		{`["a"`, 0, nil, "is not valid JSON"},
	} {
		got, err := decodeInto(tc.in, SliceOf(DecodeString[string], tc.rules))
		if tc.err != "" {
			if err == nil || !strings.HasSuffix(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %q", tc.in, err, tc.err)
			}
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", tc.in, err, diff)
		}
	}
}

func TestMapsAndMembers(t *testing.T) {
	in := `{"z":"1","a\u0062":"2"}`
	members, err := decodeInto(in, func(d *Decoder, x *acp.Members[string]) error { return DecodeMembers(d, x, DecodeString, 0) })
	if diff := cmp.Diff(acp.Members[string]{{Name: "z", Value: "1"}, {Name: "ab", Value: "2"}}, members); diff != "" || err != nil {
		t.Errorf("members: %v\n%s", err, diff)
	}
	m, err := decodeInto(in, func(d *Decoder, x *map[string]string) error { return DecodeMap(d, x, DecodeString, 0) })
	if diff := cmp.Diff(map[string]string{"z": "1", "ab": "2"}, m); diff != "" || err != nil {
		t.Errorf("map: %v\n%s", err, diff)
	}
	_, err = decodeInto(`{"a":1}`, func(d *Decoder, x *map[string]string) error { return DecodeMap(d, x, DecodeString, 0) })
	if err == nil || err.Error() != "a must be a string" {
		t.Errorf("error %v", err)
	}
	m, err = decodeInto(`null`, func(d *Decoder, x *map[string]string) error { return DecodeMap(d, x, DecodeString, NullIsEmpty) })
	if m != nil || err != nil {
		t.Errorf("null: %v, %v", m, err)
	}
	e := &Encoder{}
	EncodeMembers(e, members, EncodeString)
	if string(e.buf) != `{"z":"1","ab":"2"}` {
		t.Errorf("members written as %s", e.buf)
	}
	e = &Encoder{}
	EncodeMap(e, map[string]string{"z": "1", "a\"": "2"}, EncodeString)
	if string(e.buf) != `{"a\"":"2","z":"1"}` {
		t.Errorf("map written as %s", e.buf)
	}
}

func TestAt(t *testing.T) {
	err := At(atIndex(At(Wrong("is bad"), "a"), 3), "list")
	if got, want := At(err, "b").Error(), "b.list[3].a is bad"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if At(nil, "a") != nil {
		t.Error("an error out of nothing")
	}
	if got, want := At(errors.New("boom"), "a").Error(), "a is wrong: boom"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Unknown([]byte(strings.Repeat("x", 99))).Error(); len(got) > 90 {
		t.Errorf("a value floods its error: %s", got)
	}
}

func TestEncoderRefusesWhatJSONCannotSay(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1)} {
		e := &Encoder{}
		if EncodeFloat(e, &f); e.err == nil {
			t.Errorf("%v was written as %s", f, e.buf)
		}
	}
}

// The discriminator of an outer union is no part of a variant kept raw, and
// comes back in front of it.
func TestNestedDiscriminators(t *testing.T) {
	d := &Decoder{buf: []byte(`{"outer":"o","inner":"future","x":1}`)}
	d.Skip("outer")
	kind, err := d.Tag("inner")
	if err != nil {
		t.Fatal(err)
	}
	var raw jsontext.Value
	if err := d.UnknownVariant(&raw, true, "inner", kind); err != nil || string(raw) != `{"inner":"future","x":1}` {
		t.Fatalf("kept %s, %v", raw, err)
	}
	e := &Encoder{}
	e.Tag(`"outer":"o"`)
	e.Raw(raw, "Union")
	if want := `{"outer":"o","inner":"future","x":1}`; string(e.buf) != want {
		t.Errorf("written as %s, want %s", e.buf, want)
	}
}

// What an outer union has left to skip must not leak into the next object when
// the variant is forgiven.
func TestSkipDoesNotLeak(t *testing.T) {
	decode := func(d *Decoder, x *jsontext.Value) error {
		d.Skip("a")
		if _, err := d.Tag("kind"); err != nil {
			return err
		}
		return d.UnknownVariant(x, false, "kind", nil)
	}
	d := &Decoder{buf: []byte(`[7,{"b":1}]`)}
	var items []jsontext.Value
	if err := DecodeSlice(d, &items, decode, DropBad); err != nil || len(items) != 0 {
		t.Fatalf("items %s, %v", items, err)
	}
	if d.skip != "" {
		t.Errorf("%q is still skipped", d.skip)
	}
}
