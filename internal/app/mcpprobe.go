package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/proc"
)

// MCPServer is a configured MCP server.
type MCPServer struct {
	Name      string
	Transport string
	Place     string   // its program or host
	Agents    []string // that have its tools, by alias
}

// MCPServers lists the configured MCP servers by name; with an alias those of
// that agent.
func MCPServers(c *config.Config, alias string) ([]MCPServer, error) {
	if _, ok := c.Agents[alias]; alias != "" && !ok {
		return nil, fmt.Errorf("there is no agent %s; the agents are %s", alias, strings.Join(c.Aliases(), ", "))
	}
	var list []MCPServer
	for _, name := range slices.Sorted(maps.Keys(c.MCP.Servers)) {
		conf := c.MCP.Servers[name]
		s := MCPServer{Name: name, Transport: conf.Transport, Place: describeServer(name, conf).Place()}
		for _, a := range c.Aliases() {
			if slices.Contains(c.Agents[a].MCPServers, name) {
				s.Agents = append(s.Agents, a)
			}
		}
		if alias == "" || slices.Contains(s.Agents, alias) {
			list = append(list, s)
		}
	}
	return list, nil
}

// ProbeMCP connects a configured MCP server as a session in dir would, but for
// the sandbox, and says what it offers.
func ProbeMCP(ctx context.Context, x Examination, dir, name string) (mcp.Report, error) {
	conf := newLive(x.Home, x.Environ)
	c, err := conf.get()
	if err != nil {
		return mcp.Report{}, err
	}
	server, err := configuredServer(c, name)
	if err != nil {
		return mcp.Report{}, err
	}
	redact := environmentSecrets(x.Environ)
	s := withLogin(mcpServer(name, server, c.Home().Secrets(conf.getenv, redact)), logins(c.Home(), redact))
	r, err := mcp.Probe(ctx, s, mcp.Options{
		Version: x.Version, Dir: dir, Roots: []string{dir}, Environ: proc.Environ(x.Environ), Redact: redact,
	})
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		return r, fmt.Errorf("MCP server %s is not usable: %w", name, redact.Error(err))
	}
	return r, nil
}

func knownServers(c *config.Config) string {
	names := slices.Sorted(maps.Keys(c.MCP.Servers))
	if len(names) == 0 {
		return "config.toml has no [mcp.servers.<name>] section"
	}
	return "there are " + strings.Join(names, ", ")
}
