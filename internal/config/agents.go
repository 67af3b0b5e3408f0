package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AgentError says why a session cannot have an agent.
type AgentError struct {
	Alias  string   // the one asked for; empty when none was
	Reason string   // such as "is disabled"
	Usable []string // aliases that can be named instead
}

// Error is one sentence that lists the usable aliases.
func (e *AgentError) Error() string {
	what := "no agent was named and there is no default"
	if e.Alias != "" {
		what = "agent " + strconv.Quote(e.Alias) + " " + e.Reason
	}
	if len(e.Usable) == 0 {
		return what + "; no agent is enabled"
	}
	return fmt.Sprintf("%s; choose one of %s", what, strings.Join(e.Usable, ", "))
}

// Aliases returns the enabled agents, sorted.
func (c *Config) Aliases() []string {
	return slices.DeleteFunc(keys(c.Agents), func(alias string) bool { return !c.Agents[alias].Enabled })
}

// Implicit reports whether the agent main exists only because the
// configuration names no agent.
func (c *Config) Implicit() bool { return c.implicit }

// PickAgent returns the agent of a new session: the first of the given names
// that is not blank (what the session asked for, then the connection's
// default), else acp.default_agent, else the only enabled one. The choice must
// be enabled: an explicit one is never replaced. The error is an *AgentError.
func (c *Config) PickAgent(names ...string) (string, error) {
	for _, alias := range append(slices.Clip(names), c.ACP.DefaultAgent) {
		if alias = strings.TrimSpace(alias); alias != "" {
			return alias, c.usable(alias)
		}
	}
	if usable := c.Aliases(); len(usable) == 1 {
		return usable[0], nil
	}
	return "", &AgentError{Usable: c.Aliases()}
}

// PickForLoad returns the agent of a stored session: its own if that is still
// enabled, else acp.default_agent, else the only enabled one. The error is an
// *AgentError.
func (c *Config) PickForLoad(owner string) (string, error) {
	for _, alias := range []string{owner, c.ACP.DefaultAgent} {
		if c.Agents[alias].Enabled {
			return alias, nil
		}
	}
	if usable := c.Aliases(); len(usable) == 1 {
		return usable[0], nil
	}
	if owner == "" {
		return "", &AgentError{Usable: c.Aliases()}
	}
	return "", &AgentError{Alias: owner, Reason: "is no longer available", Usable: c.Aliases()}
}

func (c *Config) usable(alias string) error {
	a, ok := c.Agents[alias]
	switch {
	case !ok:
		return &AgentError{Alias: alias, Reason: "is not configured", Usable: c.Aliases()}
	case !a.Enabled:
		return &AgentError{Alias: alias, Reason: "is disabled", Usable: c.Aliases()}
	case a.Driver() == DriverACP && !c.ACP.Enabled:
		return &AgentError{Alias: alias, Reason: "is an external agent and acp.enabled is false", Usable: c.Aliases()}
	}
	return nil
}

// AutonomyOf returns the policy of the agent: [autonomy] with the agent's
// overrides. Level full implies that workspace_only is off.
func (c *Config) AutonomyOf(alias string) Autonomy {
	a, o := c.Autonomy, c.Agents[alias].Autonomy
	inherit(&a.Level, o.Level)
	inherit(&a.WorkspaceOnly, o.WorkspaceOnly)
	inherit(&a.MaxActionsPerHour, o.MaxActionsPerHour)
	inherit(&a.Sandbox, o.Sandbox)
	inherit(&a.SandboxRequired, o.SandboxRequired)
	inherit(&a.Network, o.Network)
	inheritList(&a.ForbiddenPaths, o.ForbiddenPaths)
	inheritList(&a.AllowedRoots, o.AllowedRoots)
	inheritList(&a.AllowedCommands, o.AllowedCommands)
	inheritList(&a.AutoApprove, o.AutoApprove)
	inheritList(&a.AlwaysAsk, o.AlwaysAsk)
	inheritList(&a.Deny, o.Deny)
	if a.Level == "full" {
		a.WorkspaceOnly = false
	}
	return a
}

// CeilingOf returns the highest autonomy level an owner's sessions may have, ""
// for any. A local owner without a section of its own has no ceiling; others
// have that of a section with nothing in it.
func (c *Config) CeilingOf(owner string, local bool) string {
	o, ok := c.Owners[owner]
	switch {
	case ok:
		return o.Ceiling
	case local:
		return ""
	}
	return defaultOwner().Ceiling
}

// ThreadBindingsOf returns the thread bindings of a channel: those of
// [session.thread_bindings] with the channel's overrides.
func (c *Config) ThreadBindingsOf(ch Channel) ThreadBindings {
	b, o := c.Session.ThreadBindings, ch.ThreadBindings
	inherit(&b.SpawnSessions, o.SpawnSessions)
	inherit(&b.IdleMinutes, o.IdleMinutes)
	inherit(&b.MaxAgeMinutes, o.MaxAgeMinutes)
	return b
}

func inherit[T any](value *T, override *T) {
	if override != nil {
		*value = *override
	}
}

func inheritList(value *[]string, override []string) {
	if override != nil {
		*value = override
	}
}
