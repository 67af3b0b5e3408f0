package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// validate checks what depends on more than one setting.
func (l *loader) validate() {
	c := l.config
	for _, alias := range slices.Sorted(maps.Keys(c.Agents)) {
		l.agent(Path{"agents", alias}, c.Agents[alias])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		l.provider(Path{"providers", name}, name, c.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCP.Servers)) {
		l.mcpServer(Path{"mcp", "servers", name}, c.MCP.Servers[name])
	}
	for _, id := range slices.Sorted(maps.Keys(c.Harnesses)) {
		l.names(Path{"harnesses", id, "mcp_servers"}, c.Harnesses[id].MCPServers, "MCP server", keys(c.MCP.Servers))
	}
	l.defaultAgent()
}

func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func (l *loader) report(p Path, format string, args ...any) {
	l.add(l.place(p), p, fmt.Sprintf(format, args...))
}

func (l *loader) agent(at Path, a Agent) {
	if a.Provider != "" {
		l.names(at.with("provider"), []string{a.Provider}, "provider", keys(l.config.Providers))
	}
	l.names(at.with("mcp_servers"), a.MCPServers, "MCP server", keys(l.config.MCP.Servers))
	if a.Driver() == DriverACP && a.Runtime.Agent == "" {
		l.report(at.with("runtime").with("agent"), "%s.runtime.agent is missing; name the harness that runs it, such as \"codex\"", at)
	}
	if a.Driver() == DriverNative && a.Runtime.Agent != "" {
		l.report(at.with("runtime").with("agent"), "%s.runtime.agent needs %s.runtime.type = \"acp\"", at, at)
	}
}

// names reports the names a setting uses that are not among the known ones.
func (l *loader) names(at Path, used []string, what string, known []string) {
	for _, name := range used {
		if slices.Contains(known, name) {
			continue
		}
		if len(known) == 0 {
			l.report(at, "%s names %s %s, but none is configured", at, what, strconv.Quote(name))
			continue
		}
		l.report(at, "%s names %s %s, which does not exist; there are %s", at, what, strconv.Quote(name), strings.Join(known, ", "))
	}
}

func (l *loader) provider(at Path, name string, p Provider) {
	kind := p.Kind
	if kind == "" {
		kind = name
	}
	preset, ok := presets()[kind]
	if !ok {
		l.report(at.with("kind"), "%s.kind is missing; set one of %s", at, strings.Join(kinds(), ", "))
		return
	}
	if preset.kind == KindChat && preset.baseURL == "" && p.BaseURL == "" {
		if _, known := presets()[name]; !known {
			l.report(at.with("base_url"), "%s.base_url is missing; an openai-chat provider needs the address of its server", at)
		}
	}
	l.names(at.with("fallback"), p.Fallback, "provider", keys(l.config.Providers))
}

func (l *loader) mcpServer(at Path, s MCPServer) {
	if s.Transport == "stdio" && s.Command == "" {
		l.report(at.with("command"), "%s.command is missing; a stdio server needs the program to start", at)
	}
	if s.Transport != "stdio" && s.URL == "" {
		l.report(at.with("url"), "%s.url is missing; a server reached by %s needs its address", at, s.Transport)
	}
}

// defaultAgent warns of a default that sessions will refuse; sessions that name
// their agent work all the same.
func (l *loader) defaultAgent() {
	alias := l.config.ACP.DefaultAgent
	if alias == "" {
		return
	}
	before := len(l.problems)
	at := Path{"acp", "default_agent"}
	if a, ok := l.config.Agents[alias]; !ok {
		l.names(at, []string{alias}, "agent", keys(l.config.Agents))
	} else if !a.Enabled {
		l.report(at, "%s names agent %s, which is disabled", at, alias)
	}
	for i := before; i < len(l.problems); i++ {
		l.problems[i].Warning = true
	}
}
