// Package native is the driver of Grapnel's own agent: a large language model,
// the tools of package tool, and the loop between them. What the model said
// and saw is kept as the session's private events, exactly as the provider
// needs it back; what people see are the updates emitted beside them.
package native

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// Agent is the configuration of one native agent.
type Agent struct {
	Alias     string
	Workspace string // absolute; the agent's own place, a root of every session
	// SharedSkills is the directory of the skills that all agents share; "" for
	// none. It is no root.
	SharedSkills string
	// Provider resolves the model provider with its credentials, at each turn,
	// so that a key put in place later works at once. Its error is one sentence
	// that says what to do, a *LoginError where a login would help.
	Provider func(ctx context.Context) (model.Provider, error)
	Model    string   // the configured model; "" for the provider's own
	Models   []string // what the model option offers; Model is one of them
	// Info says what is known of a model without credentials.
	Info func(model string) model.Info

	// Problem is why the configuration as it is now is not in force, nil when it
	// is. People are told when it changes. A nil func has none.
	Problem func() error

	SystemPrompt  string // replaces the opening of ours
	MaxIterations int    // model steps in one turn
	// MaxActionsPerHour bounds the acting calls of one session; 0 does not.
	MaxActionsPerHour int

	Tools        *tool.Set
	Servers      []mcp.Server // configured MCP servers
	MCP          mcp.Options  // what all of a session's servers get; Dir and Roots are the session's
	Limits       tool.Limits
	Policy       policy.Settings
	Points       hook.Points // who looks on or has a say; nil for nobody
	AllowedRoots []string    // roots besides cwd, workspace and the session's own
	FSRoots      fsroot.Options
	// Sandbox confines commands; nil runs them as they are. Confine is what a
	// session's commands may reach, where the rest is the session's.
	Sandbox *sandbox.Ladder
	Confine sandbox.Session
}

// Options configure the driver. Agent is required.
type Options struct {
	// Agent returns an agent's configuration. It is called at each opening.
	Agent func(alias string) (*Agent, error)
	Now   func() time.Time // nil means time.Now
	// Rights are what an owner's sessions may have at most; nil bounds nothing.
	Rights func(owner string) policy.Rights
	// Sessions makes the sessions of subagents; nil means that there are none.
	Sessions Sessions
	// Procs keeps the processes that sessions start; nil means no records of them.
	Procs *proc.Custody
	// Redact takes secrets out of what tools say, before people and the model get
	// it; nil does not.
	Redact *secret.Redactor
	// Audit keeps on record what agents did and who allowed it; nil does not.
	Audit *audit.Log
}

// Driver opens native agents. It is safe for concurrent use.
type Driver struct {
	opts Options

	mu  sync.Mutex
	kin map[string]*kin // by the session id of the subagent
}

// New returns the native driver.
func New(opts Options) *Driver {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Driver{opts: opts}
}

// Open implements session.Driver. It touches no network.
func (d *Driver) Open(ctx context.Context, req session.OpenRequest) (session.Handle, error) {
	var rights policy.Rights
	if d.opts.Rights != nil {
		rights = d.opts.Rights(req.Info.Owner)
	}
	h, err := d.open(ctx, req, rights)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// open opens an agent that has the rights at most.
func (d *Driver) open(ctx context.Context, req session.OpenRequest, rights policy.Rights) (*handle, error) {
	kin := d.kinOf(req.Info.ID)
	agent, err := d.agent(req.Info.Agent, rights, kin)
	if err != nil {
		return nil, err
	}
	h := &handle{
		driver: d, agent: agent, id: req.Info.ID, info: req.Info,
		sink: redactingSink{req.Sink, d.opts.Redact}, redact: d.opts.Redact,
		log: d.opts.Audit, now: d.opts.Now, procs: d.opts.Procs,
		reads: tool.NewReads(), budget: new(budget), beside: make(chan struct{}, maxBeside),
	}
	h.titled = req.Info.Title != "" || req.Info.TitleSet
	if err := h.makePolicies(); err != nil {
		return nil, fmt.Errorf("the policy of agent %s: %w", agent.Alias, err)
	}
	h.choose(req.Config)
	if kin != nil {
		h.join(kin, req.Restored)
	}
	if h.grants.list, err = readGrants(req.Info.Grants); err != nil {
		return nil, err
	}
	h.past = newHistory()
	if req.Restored {
		if h.past, err = readHistory(ctx, req.History); err != nil {
			return nil, err
		}
	}
	h.count()
	if h.roots, err = h.openRoots(); err != nil {
		return nil, err
	}
	h.openBox()
	if req.Away || h.elsewhere {
		h.servers = mcp.Open(nil, nil, h.agent.MCP)
	} else {
		h.openServers(req.Servers)
	}
	h.openSkills()
	return h, nil
}

// agent is the configuration of an agent within rights; a subagent's is its
// parent's.
func (d *Driver) agent(alias string, rights policy.Rights, kin *kin) (*Agent, error) {
	if kin != nil {
		return kin.parent.agent, nil
	}
	agent, err := d.opts.Agent(alias)
	if err != nil {
		return nil, err
	}
	return agent.within(rights), nil
}

// within returns the agent with no more than the rights.
func (a *Agent) within(r policy.Rights) *Agent {
	bound := *a
	bound.Policy = a.Policy.Within(r)
	bound.FSRoots.Anywhere = a.FSRoots.Anywhere && !bound.Policy.WorkspaceOnly
	return &bound
}

// rights are what the session may do now, and so the most that an agent it
// starts may.
func (h *handle) rights() policy.Rights { return h.policy.Rights(h.choice().Mode) }

// openRoots opens the directories the session may touch: its cwd first.
func (h *handle) openRoots() (*fsroot.Set, error) {
	roots := []fsroot.Root{{Path: h.info.Cwd, Name: "cwd", Writable: true}}
	if h.agent.Workspace != "" && h.agent.Workspace != h.info.Cwd {
		roots = append(roots, fsroot.Root{Path: h.agent.Workspace, Name: "workspace", Writable: true})
	}
	for _, dir := range h.info.Roots {
		roots = append(roots, fsroot.Root{Path: dir, Name: "additional", Writable: true})
	}
	for _, dir := range h.agent.AllowedRoots {
		roots = append(roots, fsroot.Root{Path: dir, Name: "allowed", Writable: true})
	}
	set, err := fsroot.Open(roots, h.agent.FSRoots)
	if err != nil {
		return h.openAway(err)
	}
	return set, nil
}
