package v1_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzUnions decodes anything as any union. What is accepted must come back the
// same after it was encoded and decoded once more.
func FuzzUnions(f *testing.F) {
	all := families()
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		for _, sample := range all[name].samples {
			f.Add(uint8(i), []byte(sample))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		family := all[names[int(which)%len(names)]]
		first, second := family.new(), family.new()
		if json.Unmarshal(data, first) != nil {
			return
		}
		once, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%q was decoded and cannot be encoded: %v", data, err)
		}
		if err := json.Unmarshal(once, second); err != nil {
			t.Fatalf("%q was encoded as %s, which cannot be decoded: %v", data, once, err)
		}
		if twice, err := json.Marshal(second); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q was encoded as\n%s\nthen as\n%s (%v)", data, once, twice, err)
		}
		if first.Kind() != second.Kind() {
			t.Fatalf("%q changed from kind %q to %q", data, first.Kind(), second.Kind())
		}
	})
}
