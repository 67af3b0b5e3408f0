package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrides(t *testing.T) {
	c := mustLoad(t, "[acp]\nmax_sessions = 3\n[providers.local]\nkind = 'demo'\nmodel = 'a'\n[agents.main]\nmodel = 'm'\n",
		"GRAPNEL_acp__max_sessions=5",
		"GRAPNEL_acp__default_agent=main",
		"GRAPNEL_acp__dispatch__enabled=false",
		"GRAPNEL_acp__max_message_bytes=1_048_576",
		"GRAPNEL_acp__allowed_agents=codex, claude",
		"GRAPNEL_acp__stream={ delivery = 'final' }",
		"GRAPNEL_acp__stream__show=[\"plan\", 'usage']",
		"GRAPNEL_providers__local__api_key=sk-x",
		"GRAPNEL_agents__main__max_iterations=7",
		"GRAPNEL_agents__main__autonomy__level=full",
		"GRAPNEL_agents__other__model=\"quoted # model\"",
		"GRAPNEL_bindings=[{ agent = 'codex' }]",
		"GRAPNEL_CONFIG_DIR=/elsewhere",
		"GRAPNEL_ACP_BRIDGE_TOKEN=t",
		"GRAPNEL_SHELL=acp",
		"GRAPNEL_=",
	)
	if got := c.Providers["local"]; got.APIKey.IsZero() || got.Model != "a" {
		t.Errorf("provider = %v, want the key added and the model kept", got)
	}
	got := []any{
		c.ACP.MaxSessions, c.ACP.DefaultAgent, c.ACP.Dispatch.Enabled, c.ACP.MaxMessageBytes,
		c.ACP.AllowedAgents, c.ACP.Stream, c.Agents["main"].MaxIterations, c.Agents["main"].Model,
		c.AutonomyOf("main").Level, c.Agents["other"].Model, c.Agents["other"].Enabled, c.Bindings[0].Mode,
	}
	want := []any{
		5, "main", false, int64(1048576),
		[]string{"codex", "claude"},
		Stream{"final", []string{"plan", "usage"}},
		7, "m",
		"full", "quoted # model", true, "persistent",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effective settings (-want +got):\n%s", diff)
	}
}

func TestOverrideErrors(t *testing.T) {
	tests := []struct{ entry, want string }{
		{"GRAPNEL_acp__defalt_agent=x", "acp.defalt_agent is not a setting; did you mean GRAPNEL_acp__default_agent?"},
		{"GRAPNEL_acp_default_agent=x", "acp_default_agent is not a setting; did you mean GRAPNEL_"},
		{"GRAPNEL_nothing=x", "nothing is not a setting; did you mean GRAPNEL_"},
		{"GRAPNEL_acp__max_sessions=many", "acp.max_sessions must be a whole number"},
		{"GRAPNEL_acp__max_sessions=0", "acp.max_sessions must be at least 1, not 0"},
		{"GRAPNEL_acp__enabled=yes", "acp.enabled must be true or false"},
		{"GRAPNEL_acp__concurrent_prompt=drop", `acp.concurrent_prompt cannot be "drop"; it is one of queue, reject, steer`},
		{"GRAPNEL_acp__stream=live", `acp.stream must be a section, such as { key = "value" }, or be set key by key`},
		{"GRAPNEL_acp__stream={ shw = [] }", "acp.stream.shw is not a setting; did you mean acp.stream.show?"},
		{"GRAPNEL_acp__allowed_agents=[", `acp.allowed_agents must be a list of strings, such as ["a", "b"] or a,b`},
		{"GRAPNEL_acp__allowed_agents=[]\nx = 1", `acp.allowed_agents must be a list of strings, such as ["a", "b"] or a,b`},
		{"GRAPNEL_agents__a-b__model=x", `"a-b" is not an agent alias; use 1 to 63 of a-z, 0-9 and single _ between them`},
		{"GRAPNEL_agents__main__provider=ghost", `agents.main.provider names provider "ghost", which does not exist; there are anthropic,`},
	}
	for _, tt := range tests {
		t.Run(tt.entry, func(t *testing.T) {
			name, _, _ := strings.Cut(tt.entry, "=")
			_, err := Load(Home(t.TempDir()), []string{tt.entry})
			want := "environment variable " + name + ": " + tt.want
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestOverrideSecretNotInErrors(t *testing.T) {
	_, err := Load(Home(t.TempDir()), []string{"GRAPNEL_providers__x__api_key=SEKRET", "GRAPNEL_providers__x__headers=SEKRET"})
	if err == nil || strings.Contains(err.Error(), "SEKRET") {
		t.Errorf("error %v, want one without the secret", err)
	}
}
