package app

import (
	"context"
	"errors"
	"fmt"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/mcp/oauth"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// logins is where the logins to MCP servers are kept, encrypted as secrets are.
func logins(home config.Home, seen *secret.Redactor) oauth.Store {
	return oauth.Store{Dir: home.Keys(), KeyFile: home.KeyFile(), Seen: seen}
}

// withLogin has a configured server use the login to it, if there is one.
func withLogin(s mcp.Server, store oauth.Store) mcp.Server {
	if s.Transport == mcp.HTTP {
		s.Login = func(ctx context.Context) (sdkauth.OAuthHandler, error) { return store.Handler(ctx, s.Name, s.URL) }
	}
	return s
}

// MCPLogin logs in to a configured MCP server. show is given the address to open
// in a browser.
func MCPLogin(ctx context.Context, c *config.Config, name string, show func(address string)) error {
	server, err := configuredServer(c, name)
	if err != nil {
		return err
	}
	if server.Transport != string(mcp.HTTP) {
		return fmt.Errorf("MCP server %s is reached by %s, where there is no login; only http has one", name, server.Transport)
	}
	err = logins(c.Home(), nil).LogIn(ctx, name, server.URL, show)
	if errors.Is(err, oauth.ErrNotWanted) {
		return fmt.Errorf("MCP server %s does not ask for a login; grapnel mcp test %s says whether it works", name, name)
	}
	if err != nil {
		return err
	}
	return Record(ctx, c, audit.SecretSet, "login to MCP server "+name)
}

// MCPLogout forgets the login to an MCP server and reports whether there was
// one.
func MCPLogout(ctx context.Context, c *config.Config, name string) (bool, error) {
	was, err := logins(c.Home(), nil).Forget(name)
	if err != nil || !was {
		return false, err
	}
	return true, Record(ctx, c, audit.SecretRemoved, "login to MCP server "+name)
}

// configuredServer is the configured MCP server of that name.
func configuredServer(c *config.Config, name string) (config.MCPServer, error) {
	server, ok := c.MCP.Servers[name]
	if !ok {
		return server, fmt.Errorf("there is no MCP server %s; %s", name, knownServers(c))
	}
	return server, nil
}
