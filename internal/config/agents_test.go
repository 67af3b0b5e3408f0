package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	twoAgents = "[agents.one]\n[agents.two]\n[agents.off]\nenabled = false\n[agents.ext]\nenabled = false\nruntime = { type = 'acp', agent = 'codex' }\n"
	oneAgent  = "[agents.one]\n[agents.off]\nenabled = false\n"
)

func TestPickAgent(t *testing.T) {
	tests := []struct {
		name, config string
		names        []string
		want         string // alias, or the error
	}{
		{"implicit main", "", nil, "main"},
		{"explicit", twoAgents, []string{"two", "one"}, "two"},
		{"connection's default", twoAgents, []string{" ", "one"}, "one"},
		{"configured default", twoAgents + "[acp]\ndefault_agent = 'two'\n", []string{"", ""}, "two"},
		{"the only one", oneAgent, nil, "one"},
		{"several", twoAgents, nil, "no agent was named and there is no default; choose one of one, two"},
		{"unknown", oneAgent, []string{"ghost"}, `agent "ghost" is not configured; choose one of one`},
		{"disabled", oneAgent, []string{"off", "one"}, `agent "off" is disabled; choose one of one`},
		{"disabled default", oneAgent + "[acp]\ndefault_agent = 'off'\n", nil, `agent "off" is disabled; choose one of one`},
		{"none enabled", "[agents.off]\nenabled = false\n", nil, "no agent was named and there is no default; no agent is enabled"},
		{"host off", "[acp]\nenabled = false\n[agents.x.runtime]\ntype = 'acp'\nagent = 'codex'\n", []string{"x"}, `agent "x" is an external agent and acp.enabled is false; choose one of x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustLoad(t, tt.config).PickAgent(tt.names...)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPickForLoad(t *testing.T) {
	tests := []struct{ name, config, owner, want string }{
		{"owner", twoAgents, "two", "two"},
		{"default instead of a disabled owner", twoAgents + "[acp]\ndefault_agent = 'one'\n", "off", "one"},
		{"only one instead of a gone owner", oneAgent + "[acp]\ndefault_agent = 'off'\n", "gone", "one"},
		{"none", twoAgents, "gone", `agent "gone" is no longer available; choose one of one, two`},
		{"never had one", twoAgents, "", "no agent was named and there is no default; choose one of one, two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mustLoad(t, tt.config).PickForLoad(tt.owner)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAutonomyOf(t *testing.T) {
	c := mustLoad(t, `
[autonomy]
network = "deny"
auto_approve = ["a"]
[agents.free.autonomy]
level = "full"
[agents.careful.autonomy]
auto_approve = []
max_actions_per_hour = 5
sandbox_required = true
`)
	main, free, careful := c.AutonomyOf("none"), c.AutonomyOf("free"), c.AutonomyOf("careful")
	if main.Level != "supervised" || !main.WorkspaceOnly || main.Network != "deny" {
		t.Errorf("default policy = %+v", main)
	}
	if free.WorkspaceOnly || free.Network != "deny" || len(free.ForbiddenPaths) == 0 {
		t.Errorf("level full = %+v, want no workspace_only but forbidden_paths", free)
	}
	if len(careful.AutoApprove) != 0 || careful.MaxActionsPerHour != 5 || !careful.SandboxRequired {
		t.Errorf("overridden policy = %+v", careful)
	}
}

func TestThreadBindingsOf(t *testing.T) {
	c := mustLoad(t, "[session.thread_bindings]\nidle_minutes = 9\n[channels.discord]\nthread_bindings = { spawn_sessions = false }\n")
	want := ThreadBindings{SpawnSessions: false, IdleMinutes: 9}
	if diff := cmp.Diff(want, c.ThreadBindingsOf(c.Channels.Discord)); diff != "" {
		t.Errorf("thread bindings (-want +got):\n%s", diff)
	}
}

func TestValidAlias(t *testing.T) {
	long := "a23456789_123456789_123456789_123456789_123456789_123456789_123"
	for alias, want := range map[string]bool{
		"main": true, "a": true, "9": true, "a_b_1": true, long: true,
		"": false, long + "4": false, "Main": false, "a-b": false, "a__b": false, "_a": false, "a_": false, "a.b": false, "é": false, "../x": false,
	} {
		if ValidAlias(alias) != want {
			t.Errorf("ValidAlias(%q) = %v", alias, !want)
		}
	}
}
