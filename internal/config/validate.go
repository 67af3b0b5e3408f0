package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/door/address"
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
	l.gateway(Path{"gateway"}, c.Gateway)
}

func keys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func (l *loader) report(p Path, format string, args ...any) {
	l.add(l.place(p), p, fmt.Sprintf(format, args...))
}

// warn reports something that stops only what uses it. Settings are made one by
// one, so what is merely incomplete must not stop everything else.
func (l *loader) warn(p Path, format string, args ...any) {
	l.report(p, format, args...)
	l.problems[len(l.problems)-1].Warning = true
}

func (l *loader) agent(at Path, a Agent) {
	if a.Provider != "" {
		l.names(at.with("provider"), []string{a.Provider}, "provider", l.providerNames())
	}
	l.names(at.with("mcp_servers"), a.MCPServers, "MCP server", keys(l.config.MCP.Servers))
	if a.Driver() == DriverACP && a.Runtime.Agent == "" {
		l.warn(at.with("runtime").with("agent"), "%s.runtime.agent is missing; name the harness that runs it, such as \"codex\"", at)
	}
	if a.Driver() == DriverNative && a.Runtime.Agent != "" {
		l.warn(at.with("runtime").with("type"), "%s.runtime.agent needs %s.runtime.type = \"acp\"", at, at)
	}
}

// providerNames lists what a provider setting may name: the configured ones
// and the kinds that work without a section.
func (l *loader) providerNames() []string {
	names := keys(l.config.Providers)
	for _, kind := range kinds() {
		if kind != KindChat && !slices.Contains(names, kind) {
			names = append(names, kind)
		}
	}
	return names
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
		l.warn(at.with("kind"), "%s.kind is missing; set one of %s", at, strings.Join(kinds(), ", "))
		return
	}
	if preset.kind == KindChat && preset.baseURL == "" && p.BaseURL == "" {
		if _, known := presets()[name]; !known {
			l.warn(at.with("base_url"), "%s.base_url is missing; an openai-chat provider needs the address of its server", at)
		}
	}
	if p.BaseURL != "" && !ValidBaseURL(p.BaseURL) {
		l.warn(at.with("base_url"), "%s.base_url must be an http or https address such as http://127.0.0.1:8080/v1, not %q", at, p.BaseURL)
	}
	l.names(at.with("fallback"), p.Fallback, "provider", l.providerNames())
}

// ValidBaseURL reports whether address can be the base_url of a provider.
func ValidBaseURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

func (l *loader) mcpServer(at Path, s MCPServer) {
	if s.Transport == "stdio" && s.Command == "" {
		l.warn(at.with("command"), "%s.command is missing; a stdio server needs the program to start", at)
	}
	if s.Transport != "stdio" && s.URL == "" {
		l.warn(at.with("url"), "%s.url is missing; a server reached by %s needs its address", at, s.Transport)
	}
}

// defaultAgent warns of a default that sessions will refuse; sessions that name
// their agent work all the same.
func (l *loader) defaultAgent() {
	alias := l.config.ACP.DefaultAgent
	at := Path{"acp", "default_agent"}
	a, ok := l.config.Agents[alias]
	switch {
	case alias == "":
	case !ok:
		l.warn(at, "%s names agent %s, which does not exist; there are %s", at, strconv.Quote(alias), strings.Join(keys(l.config.Agents), ", "))
	case !a.Enabled:
		l.warn(at, "%s names agent %s, which is disabled", at, alias)
	}
}

// gateway checks the lists that say who is let in: an entry that matches nothing,
// or that someone takes for a wildcard, must not go unnoticed.
func (l *loader) gateway(at Path, g Gateway) {
	entries(l, at.with("allowed_origins"), g.AllowedOrigins, address.ParseOrigin)
	entries(l, at.with("allowed_hosts"), g.AllowedHosts, address.ParseHost)
	entries(l, at.with("trusted_proxies"), g.TrustedProxies, address.ParseNetwork)
}

// entries reports the entries of a list that cannot be parsed.
func entries[T any](l *loader, at Path, list []string, parse func(string) (T, error)) {
	for _, text := range list {
		if _, err := parse(text); err != nil {
			l.report(at, "%s has the entry %.100q: %v", at, text, err)
		}
	}
}
