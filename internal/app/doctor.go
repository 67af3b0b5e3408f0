package app

import (
	"context"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/doctor"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// Examination says what Doctor looks at.
type Examination struct {
	Home    config.Home
	Environ []string
	Offline bool   // contact no provider
	Version string // of Grapnel

	redact *secret.Redactor
}

// Doctor makes every check there is, as far as the configuration allows.
func Doctor(ctx context.Context, x Examination) []doctor.Finding {
	x.redact = environmentSecrets(x.Environ)
	found := x.examine(ctx)
	for i := range found {
		found[i].Message, found[i].Fix = x.redact.Replace(found[i].Message), x.redact.Replace(found[i].Fix)
	}
	return found
}

func (x Examination) examine(ctx context.Context) []doctor.Finding {
	conf := newLive(x.Home, x.Environ)
	found := doctor.Config(x.Home, config.Check(x.Home, x.Environ))
	found = append(found, doctor.Home(string(x.Home))...)
	found = append(found, doctor.KeyFile(x.Home.KeyFile()))
	peers := instance.Observe(x.Home.Run())
	c, err := conf.get()
	if err != nil {
		found = append(found, doctor.Skipped("store", "its place is not known before the configuration is mended"),
			doctor.Skipped("provider", "the agents are not known before the configuration is mended"))
	} else {
		found = append(found, doctor.Store(ctx, c.StorePath(), peers)...)
		found = append(found, doctor.Disk(c.DataPath()), doctor.Audit(c.DataPath()))
		if f, some := doctor.Prices(c.PricesPath()); some {
			found = append(found, f)
		}
		found = append(found, x.agents(ctx, c, conf)...)
		found = append(found, x.sandbox(ctx, c, conf.getenv)...)
		found = append(found, x.hooks(c)...)
		found = append(found, x.servers(ctx, c, conf)...)
	}
	return append(found, doctor.Instances(peers), doctor.Custody(ctx), doctor.Shell(), doctor.Git())
}

// agents looks at every enabled agent.
func (x Examination) agents(ctx context.Context, c *config.Config, conf *live) []doctor.Finding {
	found := []doctor.Finding{doctor.Default(c.PickAgent())}
	src := config.Sources{Getenv: conf.getenv, Seen: x.redact}
	if !x.Offline {
		src.Probe = config.ProbeModels
	}
	asked := map[string]bool{}
	for _, alias := range c.Aliases() {
		if c.Agents[alias].Driver() != config.DriverNative {
			found = append(found, doctor.External(alias))
			continue
		}
		found = append(found, doctor.Directory("workspace", c.WorkspacePath(alias)))
		found = append(found, patterns(c.AutonomyOf(alias), alias)...)
		p, err := c.ProviderFor(ctx, alias, src)
		found = append(found, doctor.Provider(alias, p, err))
		if key := strings.Join([]string{p.Name, p.Model}, " "); err == nil && !asked[key] {
			asked[key] = true
			found = append(found, x.provider(ctx, p, src)...)
		}
	}
	return found
}

// patterns looks for entries of an agent's lists that are about no tool.
func patterns(a config.Autonomy, alias string) []doctor.Finding {
	names := []string{"web_fetch", "read_skill", "spawn_subagent"} // not every agent has them
	for _, t := range tool.Default() {
		names = append(names, t.Spec().Name)
	}
	var found []doctor.Finding
	for _, l := range []struct {
		name    string
		entries []string
	}{{"deny", a.Deny}, {"always_ask", a.AlwaysAsk}, {"auto_approve", a.AutoApprove}} {
		for _, entry := range l.entries {
			if f, ok := doctor.Pattern(alias, l.name, entry, names); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

// hooks looks for the programs of the hooks.
func (x Examination) hooks(c *config.Config) []doctor.Finding {
	var found []doctor.Finding
	for _, h := range []struct {
		point string
		argv  []string
	}{
		{"before_tool_call", c.Hooks.BeforeToolCall},
		{"after_tool_call", c.Hooks.AfterToolCall},
		{"permission_request", c.Hooks.PermissionRequest},
		{"before_finalize", c.Hooks.BeforeFinalize},
	} {
		if argv := hookCommand(c, h.argv); argv != nil {
			found = append(found, doctor.Hook(h.point, argv, string(c.Home()), proc.Environ(x.Environ)))
		}
	}
	return found
}

// servers looks for the programs and secrets of the MCP servers that agents use.
func (x Examination) servers(ctx context.Context, c *config.Config, conf *live) []doctor.Finding {
	src := c.Home().Secrets(conf.getenv, x.redact)
	seen := make(map[string]bool)
	var found []doctor.Finding
	for _, alias := range c.Aliases() {
		for _, name := range c.Agents[alias].MCPServers {
			server, ok := c.MCP.Servers[name]
			if !ok || seen[name] {
				continue
			}
			seen[name] = true
			secrets, err := mcpServer(name, server, src).Secrets(ctx)
			env := proc.Environ(x.Environ)
			for key, value := range secrets.Env {
				env = append(env, key+"="+value)
			}
			var argv []string
			if server.Command != "" {
				argv = append([]string{server.Command}, server.Args...)
			}
			found = append(found, doctor.Server(name, argv, env, err))
		}
	}
	return found
}

func (x Examination) provider(ctx context.Context, p config.ProviderChoice, src config.Sources) []doctor.Finding {
	secrets, err := p.Credentials(ctx, src)
	found := []doctor.Finding{doctor.Credentials(p, err)}
	switch {
	case err != nil:
		return found
	case x.Offline:
		return append(found, doctor.Skipped("network", p.Name+" was not contacted"))
	}
	return append(found, doctor.Reach(ctx, endpoint.NewClient(), p, secrets))
}
