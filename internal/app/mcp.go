package app

import (
	"context"
	"fmt"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// mcpOptions are what the MCP servers of every session get.
func (a *App) mcpOptions() mcp.Options {
	return mcp.Options{Version: a.opts.Version, Procs: a.procs, Environ: proc.Environ(a.opts.Environ)}
}

// mcpServers are the configured MCP servers of those names.
func (a *App) mcpServers(c *config.Config, names []string) []mcp.Server {
	src := c.Home().Secrets(a.conf.getenv, a.redact)
	var list []mcp.Server
	for _, name := range names {
		if conf, ok := c.MCP.Servers[name]; ok { // the loader has warned of others
			list = append(list, withLogin(mcpServer(name, conf, src), logins(c.Home(), a.redact)))
		}
	}
	return list
}

// mcpServer is a configured server with its secrets, looked up at each
// connecting.
func mcpServer(name string, conf config.MCPServer, src secret.Source) mcp.Server {
	s := describeServer(name, conf)
	s.Secrets = func(ctx context.Context) (mcp.Secrets, error) {
		env, err := resolveAll(ctx, conf.Env, src)
		if err != nil {
			return mcp.Secrets{}, fmt.Errorf("mcp.servers.%s.env: %w", name, err)
		}
		headers, err := resolveAll(ctx, conf.Headers, src)
		if err != nil {
			return mcp.Secrets{}, fmt.Errorf("mcp.servers.%s.headers: %w", name, err)
		}
		return mcp.Secrets{Env: env, Headers: headers}, nil
	}
	return s
}

func describeServer(name string, conf config.MCPServer) mcp.Server {
	return mcp.Server{
		Name: name, Transport: mcp.Transport(conf.Transport), Unconfined: !conf.Sandbox,
		Command: conf.Command, Args: conf.Args, URL: conf.URL,
		Timeout: time.Duration(conf.TimeoutSecs) * time.Second,
	}
}

// resolveAll looks references up. The error names the one that is missing.
func resolveAll(ctx context.Context, refs map[string]secret.Ref, src secret.Source) (map[string]string, error) {
	values := make(map[string]string, len(refs))
	for name, ref := range refs {
		v, err := ref.ResolveFor(ctx, name, src)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = v
	}
	return values, nil
}
