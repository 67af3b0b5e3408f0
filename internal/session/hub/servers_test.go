package hub

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func values(list ...string) []jsontext.Value {
	var out []jsontext.Value
	for _, s := range list {
		out = append(out, jsontext.Value(s))
	}
	return out
}

func TestJoinedServers(t *testing.T) {
	for name, c := range map[string]struct {
		old, passed, want []jsontext.Value
		changed           bool
	}{
		"none":             {values(`{"name":"a"}`), nil, values(`{"name":"a"}`), false},
		"the same":         {values(`{"name":"a","command":"x"}`), values(`{ "command":"x", "name":"a"}`), values(`{ "command":"x", "name":"a"}`), false},
		"fewer":            {values(`{"name":"a"}`, `{"name":"b"}`), values(`{"name":"b"}`), values(`{"name":"b"}`, `{"name":"a"}`), false},
		"one more":         {values(`{"name":"a"}`), values(`{"name":"b"}`), values(`{"name":"b"}`, `{"name":"a"}`), true},
		"another":          {values(`{"name":"a","url":"1"}`), values(`{"name":"a","url":"2"}`), values(`{"name":"a","url":"2"}`), true},
		"twice":            {values(`{"name":"a"}`), values(`{"name":"a"}`, `{"name":"a","x":1}`), values(`{"name":"a"}`, `{"name":"a","x":1}`), false},
		"twice, as before": {values(`{"name":"a"}`, `{"name":"a","x":1}`), values(`{"name":"a"}`, `{"name":"a","x":1}`), values(`{"name":"a"}`, `{"name":"a","x":1}`), false},
		"nothing usable":   {values(`7`, `null`), values(`7`, `null`), values(`7`, `null`), false},
	} {
		list, changed := joined(c.old, c.passed)
		if changed != c.changed || cmp.Diff(c.want, list) != "" {
			t.Errorf("%s: %v %s, want %v %s", name, changed, list, c.changed, c.want)
		}
	}
	var list []jsontext.Value
	for i := range 3 * maxServers {
		list, _ = joined(list, values(fmt.Sprintf(`{"name":"s%d"}`, i)))
	}
	if len(list) != maxServers || nameOf(list[0]) != fmt.Sprintf("s%d", 3*maxServers-1) {
		t.Errorf("%d servers are kept, the first of them %s", len(list), list[0])
	}
}
