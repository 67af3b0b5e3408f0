package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// What is confined runs as the sandbox says, on the host also when the client
// has terminals.
func TestConfine(t *testing.T) {
	env := newEnv(t, nil)
	hand := &clientTerminals{}
	env.Hands.Terminals = hand
	var asked []string
	env.Confine = func(_ context.Context, _ Confinement, s proc.Spec) (proc.Spec, error) {
		asked = s.Argv
		s.Argv = slices.Concat([]string{"env", "CONFINED=yes"}, s.Argv)
		return s, nil
	}
	res := run(t, env, shell{}, `{"command":"echo $CONFINED"}`)
	if res.Text != "yes\n[exit code 0]" || len(hand.calls) != 0 || asked[0] != "sh" {
		t.Errorf("result %q, the client was asked for %q, confined %q", res.Text, hand.calls, asked)
	}
	env.Confine = func(_ context.Context, _ Confinement, s proc.Spec) (proc.Spec, error) {
		return s, errors.New("there is no sandbox here")
	}
	res = prepare(t, env, shell{}, `{"command":"touch made"}`).Run(t.Context(), &recorder{})
	if !res.IsError || !strings.Contains(res.Text, "there is no sandbox here") || len(hand.calls) != 0 {
		t.Errorf("result %+v", res)
	}
}

// A call asks to leave the sandbox where there is one, and its title says so.
func TestOutsideSandbox(t *testing.T) {
	confine := func(_ context.Context, _ Confinement, s proc.Spec) (proc.Spec, error) { return s, nil }
	for _, tt := range []struct {
		input    string
		confined bool
		title    string
	}{
		{`{"command":"git push","outside_sandbox":true}`, true, "Outside the sandbox: `git push`"},
		{`{"command":"git push","outside_sandbox":"true"}`, true, "Outside the sandbox: `git push`"},
		{`{"command":"git push","outside_sandbox":true}`, false, "`git push`"},
		{`{"command":"git push","outside_sandbox":false}`, true, "`git push`"},
		{`{"command":"git push"}`, true, "`git push`"},
	} {
		env := newEnv(t, nil)
		if tt.confined {
			env.Confine = confine
		}
		call := prepare(t, env, shell{}, tt.input)
		if call.Title != tt.title || call.Subject.Outside != strings.HasPrefix(tt.title, "Outside") {
			t.Errorf("%s, confined %v: %q, outside %v", tt.input, tt.confined, call.Title, call.Subject.Outside)
		}
	}
}
