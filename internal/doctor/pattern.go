package doctor

import (
	"strings"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/spell"
)

// Pattern says when an entry of an agent's lists speaks of a tool that there is
// not: it allows and forbids nothing. MCP tools are known only once their servers
// are connected, and taken at their word; tools are the names of all others.
func Pattern(alias, list, entry string, tools []string) (Finding, bool) {
	p, err := policy.ParsePattern(entry)
	if err != nil {
		return fail("policy", "", "autonomy.%s of agent %s: %v", list, alias, err), true
	}
	name := p.Tool()
	if name == "mcp" || strings.Contains(name, "*") || strings.Contains(name, "__") {
		return Finding{}, false
	}
	for _, t := range tools {
		if t == name {
			return Finding{}, false
		}
	}
	near, _ := spell.Nearest(name, tools)
	return warn("policy", "name a tool such as "+near+"; tools of MCP servers are named server__tool",
		"autonomy.%s of agent %s has %q, and there is no tool %s", list, alias, entry, name), true
}
