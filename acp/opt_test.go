package acp_test

import (
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
)

func TestOpt(t *testing.T) {
	for _, tc := range []struct {
		name    string
		opt     acp.Opt[string]
		applied string
		value   bool
	}{
		{"absent", acp.Opt[string]{}, "old", false},
		{"null", acp.None[string](), "", false},
		{"empty", acp.Some(""), "", true},
		{"value", acp.Some("new"), "new", true},
	} {
		if got := tc.opt.Apply("old"); got != tc.applied {
			t.Errorf("%s makes %q of old, want %q", tc.name, got, tc.applied)
		}
		if _, ok := tc.opt.Get(); ok != tc.value {
			t.Errorf("%s has a value: %t", tc.name, ok)
		}
	}
}

func TestMembersGet(t *testing.T) {
	m := acp.Members[int]{{Name: "a", Value: 1}, {Name: "b", Value: 2}}
	if v, ok := m.Get("b"); v != 2 || !ok {
		t.Errorf("b is %d, %t", v, ok)
	}
	if v, ok := m.Get("c"); v != 0 || ok {
		t.Errorf("c is %d, %t", v, ok)
	}
}
