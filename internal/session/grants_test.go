package session

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWithoutGrants(t *testing.T) {
	tests := []struct{ held, taken, want string }{
		{``, `[]`, `[]`},
		{``, ``, `[]`},
		{`[{"a":1},{"a":2}]`, `[]`, `[{"a":1},{"a":2}]`},
		{`[{"a":1},{"a":2}]`, `[{"a":2}]`, `[{"a":1}]`},
		{`[{"a":1,"b":2}]`, `[ {"b": 2, "a": 1.0} ]`, `[]`},
		{`[{"a":1},{"a":1}]`, `[{"a":1}]`, `[]`},
		{`[{"a":1}]`, `[{"a":3}]`, `[{"a":1}]`},
		{`[{"a":1}]`, `[{}]`, `[{"a":1}]`},
	}
	for _, tt := range tests {
		got, err := WithoutGrants(jsontext.Value(tt.held), jsontext.Value(tt.taken))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s without %s: %s, %v", tt.held, tt.taken, got, err)
		}
	}
	var invalid *InvalidError
	for _, bad := range []string{`{}`, `"x"`, `[`, `[{"a":1,"a":2}]`} {
		if _, err := WithoutGrants(jsontext.Value(`[]`), jsontext.Value(bad)); !errors.As(err, &invalid) {
			t.Errorf("taken %s: %v", bad, err)
		}
		if _, err := WithoutGrants(jsontext.Value(bad), jsontext.Value(`[]`)); err == nil {
			t.Errorf("held %s was read", bad)
		}
	}
}

// FuzzWithoutGrants: nothing is added by taking away, and taking all leaves
// nothing.
func FuzzWithoutGrants(f *testing.F) {
	f.Add([]byte(`[{"a":1},{"a":2}]`), []byte(`[{"a":1}]`))
	f.Add([]byte(``), []byte(`[1,"x",null]`))
	f.Fuzz(func(t *testing.T, held, taken []byte) {
		left, err := WithoutGrants(held, taken)
		if err != nil {
			return
		}
		if again, err := WithoutGrants(left, taken); err != nil || string(again) != string(left) {
			t.Errorf("%s once more: %s, %v", left, again, err)
		}
		if none, err := WithoutGrants(held, held); err != nil || string(none) != "[]" {
			t.Errorf("%s without itself: %s, %v", held, none, err)
		}
	})
}
