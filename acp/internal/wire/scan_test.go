package wire

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestScanValue(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want int // -1: there is no whole value
	}{
		{`""`, 2},
		{`"a\"b" `, 6},
		{`"\\"x`, 4},
		{`"\\\""`, 6},
		{`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"b"]`, 35},
		{`"aaaaaaaaaaaaaaaaaaaaaaa\\"`, 27},
		{`"aaaaaaaaaaaaaaaaaaaaaa\\\"b"`, 29},
		{`12.5e3,`, 6},
		{`true}`, 4},
		{`{"a":[1,{"b":"]}"}]},1`, 20},
		{`[]`, 2},
		{``, -1},
		{`,`, -1},
		{`"`, -1},
		{`"a\"`, -1},
		{`[[1]`, -1},
		{`{"a`, -1},
	} {
		if got := scanValue([]byte(tc.in), 0); got != tc.want {
			t.Errorf("scanValue(%s) = %d, want %d", tc.in, got, tc.want)
		}
	}
}

// FuzzScan holds the scanners to jsontext on what is JSON, and to their bounds
// on what is not.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `[1,"\\\""]`, `"\u00e9\\"`, `{"a" : {"b":[ ]} , "c":null}`, `{"a"`, `[,]`, `{"a":1}}`, "\"\xff\"", `{"":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa\\"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var meta, extra jsontext.Value
		err := DecodeEmpty(&Decoder{buf: data, pos: skipSpace(data, 0)}, &meta, &extra)
		if !jsontext.Value(data).IsValid() {
			return
		}
		start := skipSpace(data, 0)
		want := len(bytes.TrimRight(data, " \t\r\n"))
		if got := scanValue(data, start); got != want {
			t.Fatalf("scanValue(%q) = %d, want %d", data, got, want)
		}
		if isObject := data[start] == '{'; isObject != (err == nil) {
			t.Fatalf("%q decoded with %v", data, err)
		}
		if err == nil {
			checkMembers(t, data, meta, extra)
		}
	})
}

// checkMembers checks that an object that was taken apart can be put together.
func checkMembers(t *testing.T, data []byte, meta, extra jsontext.Value) {
	t.Helper()
	e := &Encoder{}
	EncodeEmpty(e, meta, extra)
	if e.err != nil {
		t.Fatal(e.err)
	}
	got, want := jsontext.Value(e.buf), jsontext.Value(bytes.Clone(data))
	if err := got.Canonicalize(); err != nil {
		t.Fatalf("%q came back as %q: %v", data, e.buf, err)
	}
	if find(t, want, "_meta") && meta == nil {
		return // a _meta that is no object is dropped
	}
	if err := want.Canonicalize(); err != nil {
		t.Skip(err) // a number that no float can hold
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%q came back as %q", data, got)
	}
}

func find(t *testing.T, object []byte, name string) bool {
	t.Helper()
	return (&Decoder{buf: object, pos: skipSpace(object, 0)}).Has(name)
}
