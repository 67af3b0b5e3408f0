package native

import (
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// TestConfinementInWords says of commands what will be true of them.
func TestConfinementInWords(t *testing.T) {
	box := func(required bool) *sandbox.Box { return new(sandbox.Ladder).Open(sandbox.Session{Required: required}) }
	works, none := &sandbox.Status{Rung: sandbox.Landlock}, &sandbox.Status{Rung: sandbox.None}
	for _, c := range []struct {
		name  string
		mode  policy.Mode
		net   policy.Network
		box   *sandbox.Box
		found *sandbox.Status
		want  string // every part of it
		not   string
	}{
		{"planning", policy.ModePlan, "", nil, nil, "", "Commands"},
		{"no sandbox", policy.ModeAsk, "", nil, nil, "refused.|not confined", "network"},
		{"not known yet", policy.ModeAsk, "", box(false), nil, "if one works here|network is asked about", "not confined"},
		{"one that works", policy.ModeAcceptEdits, policy.NetworkDeny, box(false), works, "(landlock)|no network", "if one"},
		{"with the network", policy.ModeAsk, policy.NetworkAllow, box(false), works, "(landlock)", "network"},
		{"none works", policy.ModeAsk, "", box(false), none, "not confined", "run in a sandbox"},
		{"none works and one is required", policy.ModeAsk, "", box(true), none, "No command runs", "not confined"},
		{"full, confined", policy.ModeFull, "", box(false), works, "forbidden paths are missing", "refused"},
		{"full, bare", policy.ModeFull, "", nil, nil, "", "Commands"},
	} {
		turn := &turn{
			handle: &handle{agent: &Agent{Policy: policy.Settings{WorkspaceOnly: true, Network: c.net}}, box: c.box},
			choice: choice{Mode: c.mode}, found: c.found,
		}
		got := turn.confinement()
		for _, want := range strings.Split(c.want, "|") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", c.name, got, want)
			}
		}
		if strings.Contains(got, c.not) {
			t.Errorf("%s: %q holds %q", c.name, got, c.not)
		}
	}
}
