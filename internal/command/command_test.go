package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/command"
)

func set() *command.Set[int] {
	return command.New(
		command.Command[int]{Name: "usage", Description: "Show usage", Source: command.BuiltIn, Run: 1},
		command.Command[int]{Name: "review", Description: "Review \"it\"", Hint: "what", Source: command.Skill, Run: 2},
		command.Command[int]{Name: "usage", Description: "Another", Hint: "x", Source: command.Skill, Run: 3},
		command.Command[int]{Name: "Not A Name", Source: command.Skill, Run: 4},
	)
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		text, name, args string
	}{
		{"/usage", "usage", ""},
		{" \n/usage \n", "usage", ""},
		{"/usage now", "", ""}, // it takes no arguments
		{"/review", "review", ""},
		{"/review the last  commit ", "review", "the last  commit"},
		{"/review\nall\nof it", "review", "all\nof it"},
		{"/reviews", "", ""},
		{"/etc/hosts", "", ""},
		{"/review/it", "", ""},
		{"/", "", ""},
		{"/ review", "", ""},
		{"//review", "", ""},
		{"review", "", ""},
		{"please /review", "", ""},
		{"/Review", "", ""},
		{"", "", ""},
	} {
		got, args, ok := set().Find(c.text)
		if got.Name != c.name || args != c.args || ok != (c.name != "") {
			t.Errorf("%q: got %q %q %v", c.text, got.Name, args, ok)
		}
	}
}

func TestTheFirstOfANameStays(t *testing.T) {
	s := set()
	if c, _, _ := s.Find("/usage"); c.Run != 1 || c.Source != command.BuiltIn {
		t.Errorf("got %+v", c)
	}
	if len(s.List()) != 2 || !s.Has("review") || s.Has("Not A Name") {
		t.Errorf("got %+v", s.List())
	}
}

func TestAvailable(t *testing.T) {
	want := `[{"name":"usage","description":"Show usage"},{"name":"review","description":"Review \"it\"","input":{"hint":"what"}}]`
	if d := cmp.Diff(want, string(set().Available())); d != "" {
		t.Error(d)
	}
	if got := string(command.New[int]().Available()); got != "[]" {
		t.Errorf("no commands: %s", got)
	}
	broken := command.New(command.Command[int]{Name: "x", Description: "a\xffb"})
	if got := string(broken.Available()); !strings.Contains(got, "a\ufffdb") {
		t.Errorf("got %s", got)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "pdf-tools": true, "a_b": true, "7z": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, "_a": false, "A": false, "a b": false, "a/b": false, "é": false, "a.b": false,
		strings.Repeat("a", 65): false,
	} {
		if command.ValidName(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
}
