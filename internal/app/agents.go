package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
	"github.com/grapnel-ai/grapnel/internal/web"
)

// agents answers what surfaces ask about the configured agents.
type agents struct{ *App }

// Resolve implements serve.Agents.
func (a agents) Resolve(alias, connectionDefault string) (serve.Agent, error) {
	return a.pick(func(c *config.Config) (string, error) { return c.PickAgent(alias, connectionDefault) })
}

// Rebind implements serve.Agents.
func (a agents) Rebind(stored string) (serve.Agent, error) {
	return a.pick(func(c *config.Config) (string, error) { return c.PickForLoad(stored) })
}

func (a agents) pick(choose func(*config.Config) (string, error)) (serve.Agent, error) {
	c, err := a.conf.get()
	if err != nil {
		return serve.Agent{}, &session.FailureError{Failure: session.Failure{Code: codeInternal, Message: err.Error()}}
	}
	alias, err := choose(c)
	if err != nil {
		return serve.Agent{}, session.Invalidf("%v", err)
	}
	return a.describe(c, alias)
}

// Default implements serve.Agents.
func (a agents) Default(connectionDefault string) (serve.Agent, bool) {
	agent, err := a.Resolve("", connectionDefault)
	return agent, err == nil
}

// describe makes the agent's workspace if it is missing and says what its model
// takes. A workspace that cannot be made is missed only where it is used.
func (a agents) describe(c *config.Config, alias string) (serve.Agent, error) {
	workspace := c.WorkspacePath(alias)
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		a.log.Debug("workspace", "agent", alias, "err", err)
	}
	s := serve.Agent{Alias: alias, Workspace: workspace}
	if p, err := a.providerOf(c, alias); err == nil {
		info := p.info(p.choice.Model)
		s.Model, s.Image, s.Audio = p.choice.Model, info.Images, info.Audio
	}
	return s, nil
}

// nativeAgent is the configuration of a native agent for the driver.
func (a *App) nativeAgent(alias string) (*native.Agent, error) {
	c, err := a.conf.get()
	if err != nil {
		return nil, err
	}
	if alias, err = c.PickForLoad(alias); err != nil {
		return nil, session.Invalidf("%v", err)
	}
	autonomy := c.AutonomyOf(alias)
	conf := c.Agents[alias]
	n := &native.Agent{
		Problem: a.conf.problem,
		Alias:   alias, Workspace: existingDir(c.WorkspacePath(alias)),
		SharedSkills: c.Home().Skills(),
		SystemPrompt: conf.SystemPrompt, MaxIterations: conf.MaxIterations,
		MaxActionsPerHour: autonomy.MaxActionsPerHour,
		Tools:             tool.NewSet(tools(c)...),
		Servers:           a.mcpServers(c, conf.MCPServers),
		MCP:               a.mcpOptions(),
		Policy:            policySettings(autonomy),
		Points:            a.points(c),
		AllowedRoots:      expandAll(autonomy.AllowedRoots),
		Sandbox:           a.sandbox,
		Confine:           confinement(c, alias),
		FSRoots: fsroot.Options{
			Forbidden: expandAll(autonomy.ForbiddenPaths),
			Own:       ownPaths(c),
			Anywhere:  !autonomy.WorkspaceOnly,
		},
	}
	a.bindProvider(c, alias, n)
	return n, nil
}

// tools are the agent's own tools: those that everyone has and those that the
// configuration turns on.
func tools(c *config.Config) []tool.Tool {
	list := tool.Default()
	if c.Tools.WebFetch.Enabled {
		list = append(list, tool.WebFetch(web.New(web.Options{})))
	}
	return list
}

func policySettings(a config.Autonomy) policy.Settings {
	home, _ := os.UserHomeDir() // unknown is fine: ~ then stands for itself
	return policy.Settings{
		Level:           policy.Level(a.Level),
		WorkspaceOnly:   a.WorkspaceOnly,
		AllowedCommands: a.AllowedCommands,
		AutoApprove:     a.AutoApprove,
		AlwaysAsk:       a.AlwaysAsk,
		Deny:            a.Deny,
		Network:         policy.Network(a.Network),
		Home:            home,
	}
}

// ownPaths are Grapnel's own files, which no agent may touch.
func ownPaths(c *config.Config) []string {
	return []string{c.Home().File(), c.DataPath(), c.Home().Run(), c.Home().Keys()}
}

// expandAll makes paths of the configuration absolute; ~ is the user's home.
func expandAll(paths []string) []string {
	home, err := os.UserHomeDir()
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
			if err != nil {
				continue
			}
			p = filepath.Join(home, rest)
		}
		if filepath.IsAbs(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// existingDir is the real path of a directory, "" when there is none: where it
// could not be made, sessions do without.
func existingDir(path string) string {
	dir, err := resolveLinks(path)
	if err != nil {
		return ""
	}
	return dir
}

func resolveLinks(path string) (string, error) { return filepath.EvalSymlinks(path) }
