package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestKeyAgent(t *testing.T) {
	for _, c := range []struct {
		key, alias string
		ok         bool
	}{
		{"agent:design:main", "design", true},
		{"agent:design:acp:1:2", "design", true},
		{"agent:main:a key with blanks", "main", true},
		{"review", "", true},
		{"Größe", "", true},
		{"agents", "", true},
		{"agent:", "", false},
		{"agent:main", "", false},
		{"agent:main:", "", false},
		{"agent::main", "", false},
		{"", "", false},
		{" a", "", false},
		{"a ", "", false},
		{"a\nb", "", false},
		{"a\x00", "", false},
		{"a\u202eb", "", false},
		{"\xff", "", false},
		{strings.Repeat("a", 200), "", true},
		{strings.Repeat("a", 201), "", false},
	} {
		alias, err := session.KeyAgent(c.key)
		if alias != c.alias || (err == nil) != c.ok {
			t.Errorf("%q: %q, %v", c.key, alias, err)
		}
		var invalid *session.InvalidError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%q: %T", c.key, err)
		}
	}
}

func FuzzKeyAgent(f *testing.F) {
	for _, s := range []string{"agent:main:x", "agent:", "x", "", "\x00", session.NewKey("main", session.KeyACP)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		alias, err := session.KeyAgent(key)
		if err != nil {
			return
		}
		if len(key) > 200 || strings.ContainsAny(key, "\x00\r\n") {
			t.Errorf("%q is a key", key)
		}
		if named := strings.HasPrefix(key, "agent:"); named != (alias != "") {
			t.Errorf("%q names %q", key, alias)
		}
	})
}

func TestNewKeysDiffer(t *testing.T) {
	a, b := session.NewKey("main", session.KeyACP), session.NewKey("main", session.KeyACP)
	if alias, err := session.KeyAgent(a); a == b || alias != "main" || err != nil {
		t.Errorf("%s and %s: %q, %v", a, b, alias, err)
	}
}

func FuzzPlaceOf(f *testing.F) {
	filter := session.Filter{Owner: "me", Agents: []string{"main"}}
	f.Add(session.NewCursor(filter, []byte("place")))
	f.Add(session.NewCursor(session.Filter{}, []byte("place")))
	f.Add("")
	f.Add("AAAA\nBBBB")
	f.Fuzz(func(t *testing.T, cursor string) {
		place, err := session.PlaceOf(filter, cursor)
		if err != nil {
			return
		}
		if again := session.NewCursor(filter, place); again != cursor {
			t.Errorf("%q is also %q", cursor, again)
		}
	})
}

func TestRoleOf(t *testing.T) {
	i := session.Info{Owner: "ann", Shares: []session.Share{{Owner: "bob", Role: session.Prompter}}}
	for owner, want := range map[string]struct {
		role session.Role
		ok   bool
	}{"ann": {session.Approver, true}, "bob": {session.Prompter, true}, "eve": {0, false}, "": {0, false}} {
		if role, ok := i.RoleOf(owner); role != want.role || ok != want.ok {
			t.Errorf("%q: %v, %v", owner, role, ok)
		}
	}
}
