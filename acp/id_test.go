package acp

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// F13: an id keeps its literal, and only strings and integers are ids.
func TestF13ParseID(t *testing.T) {
	tests := []struct {
		in, want string
		key      ID
	}{
		{`0`, `0`, IntID(0)},
		{`-1`, `-1`, IntID(-1)},
		{`-0`, `-0`, ID{"-0"}},
		{`9007199254740993`, `9007199254740993`, IntID(9007199254740993)},
		{`123456789012345678901234567890`, `123456789012345678901234567890`, ID{"123456789012345678901234567890"}},
		{` 7 `, `7`, IntID(7)},
		{`""`, `""`, StringID("")},
		{`"0"`, `"0"`, StringID("0")},
		{`"ü\/1"`, `"ü\/1"`, StringID("ü/1")},
		{`"\u00fc\"\\\n"`, `"\u00fc\"\\\n"`, StringID("ü\"\\\n")},
		{`null`, ``, ID{}},
		{`true`, ``, ID{}},
		{`1.0`, ``, ID{}},
		{`1e2`, ``, ID{}},
		{`01`, ``, ID{}},
		{`{}`, ``, ID{}},
		{`[1]`, ``, ID{}},
		{`"open`, ``, ID{}},
		{`"\ud800"`, ``, ID{}},
		{`1 2`, ``, ID{}},
		{``, ``, ID{}},
	}
	for _, tt := range tests {
		id, err := ParseID(jsontext.Value(tt.in))
		if id.String() != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("ParseID(%s) = %q, %v; want %q", tt.in, id, err, tt.want)
		}
		if id.key() != tt.key {
			t.Errorf("ParseID(%s) has the key %q, want %q", tt.in, id.key(), tt.key)
		}
		if id.IsValid() != (tt.want != "") || string(id.Raw()) != tt.want {
			t.Errorf("ParseID(%s): IsValid %t, Raw %q", tt.in, id.IsValid(), string(id.Raw()))
		}
	}
	if StringID("5") == IntID(5) {
		t.Error("the string and the number 5 are the same id")
	}
}
