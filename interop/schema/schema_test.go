//go:build interop

package schema_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/interop/schema"
)

func open(t *testing.T) *schema.Schema {
	t.Helper()
	s, err := schema.Open("../..")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	s := open(t)
	for _, c := range []struct{ method, kind, value, fault string }{
		{"session/new", "Response", `{"sessionId":"s"}`, ""},
		{"session/new", "Response", `{"sessionId":"s","more":1,"_meta":{"a":1}}`, ""},
		{"session/new", "Response", `{}`, "sessionId"},
		{"session/new", "Response", `null`, "object"},
		{"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2}}`, ""},
		{"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1.5,"size":2}}`, "integer"},
		{"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"unknown"}}`, "oneOf"},
		{"session/fork", "Response", `{"sessionId":"s"}`, ""}, // unstable
		{"session/fork", "Response", `{}`, "sessionId"},
		{"_ours/method", "Request", `5`, ""},
		{"session/no_such_method", "Request", `{}`, "ACP has no"},
		{"session/new", "Notification", `{}`, "ACP has no"},
	} {
		err := s.Check(c.method, c.kind, jsontext.Value(c.value))
		switch {
		case err == nil && c.fault != "":
			t.Errorf("%s %s %s: no fault found", c.method, c.kind, c.value)
		case err != nil && c.fault == "", err != nil && !strings.Contains(err.Error(), c.fault):
			t.Errorf("%s %s %s: %v", c.method, c.kind, c.value, err)
		}
	}
}

func TestStrangers(t *testing.T) {
	got := open(t).Strangers("session/update", "Notification", jsontext.Value(`{"sessionId":"s","update":{},"_meta":{},"b":1,"a":2}`))
	if d := cmp.Diff([]string{"a", "b"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOpenWithoutPeers(t *testing.T) {
	if _, err := schema.Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "scripts/peers") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}
