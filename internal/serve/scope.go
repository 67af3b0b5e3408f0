package serve

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// resolve picks the agent of a new session, within the connection's scope. An
// agent outside it is refused like one that is not configured.
func (c *conn) resolve(alias string) (Agent, error) {
	scope := c.opts.Agents
	if len(scope) == 0 {
		return c.server.opts.Agents.Resolve(alias, c.opts.Agent)
	}
	asked := firstNonEmpty(alias, c.opts.Agent)
	if asked == "" && len(scope) == 1 {
		asked = scope[0]
	}
	if asked != "" && !slices.Contains(scope, asked) {
		return Agent{}, outOfScope(asked, scope)
	}
	agent, err := c.server.opts.Agents.Resolve(asked, "")
	invalid := &session.InvalidError{}
	if errors.As(err, &invalid) || err == nil && !slices.Contains(scope, agent.Alias) {
		return Agent{}, outOfScope(asked, scope)
	}
	return agent, err
}

// outOfScope says what may be chosen, and nothing of what else there is.
func outOfScope(asked string, scope []string) error {
	if asked == "" {
		return session.Invalidf("choose an agent: %s", strings.Join(scope, ", "))
	}
	return session.Invalidf("agent %q is not configured; choose one of %s", asked, strings.Join(scope, ", "))
}

// rebind picks the agent of a stored session. Where that is another by now, it
// has to be in the scope too.
func (c *conn) rebind(stored string) (Agent, error) {
	agent, err := c.server.opts.Agents.Rebind(stored)
	if err == nil && len(c.opts.Agents) > 0 && !slices.Contains(c.opts.Agents, agent.Alias) {
		err = session.ErrNotFound
	}
	return agent, err
}

// role is what the client may do in a session it is about to join: all that the
// connection allows, or less when it asks for less (_meta.grapnel.role).
func (c *conn) role(p *params) (session.Role, error) {
	v := lookup(p.Meta, "grapnel", "role")
	if isNull(v) {
		return c.opts.Role, nil
	}
	var name string
	if json.Unmarshal(v, &name) != nil {
		return 0, session.Invalidf("_meta.grapnel.role must be a string")
	}
	role, err := session.ParseRole(name)
	return min(role, c.opts.Role), err
}

// may checks what the client may do in a session: by the role it joined with, or
// by the connection's where it has not.
func (c *conn) may(id string, role session.Role) error {
	has := c.opts.Role
	if v, ok := c.local(id); ok {
		has = v.att().Role()
	}
	if has < role {
		return session.ErrRole
	}
	return nil
}

// allowed is may for a request, which it fails.
func (c *conn) allowed(req *acp.Request, id string, role session.Role) bool {
	err := c.may(id, role)
	if err != nil {
		c.fail(req, c.wireError(err, id))
	}
	return err == nil
}

// onBehalf is for whom another instance connects: a client of its own, which has
// joined a session that is active here. Only processes of the same user may say
// so (ConnOptions.Admin).
type onBehalf struct {
	Owner  string   `json:"owner"`
	Role   string   `json:"role"`
	Agents []string `json:"agents,omitzero"`
	Local  bool     `json:"local"`
}

// OnBehalfOf is the _meta of clientCapabilities by which a process of the same
// user speaks for an owner at another instance.
func OnBehalfOf(owner string) (jsontext.Value, error) {
	inner, err := with(raw("{}"), "onBehalf", onBehalf{Owner: owner, Role: session.Approver.String(), Local: true})
	if err != nil {
		return nil, err
	}
	return with(raw("{}"), "grapnel", inner)
}

// actFor takes the place of another instance's client.
func (c *conn) actFor(declared raw) error {
	v := lookup(declared, "_meta", "grapnel", "onBehalf")
	if isNull(v) || !c.opts.Admin || c.initialized.Load() || c.dialect.Load() {
		return nil
	}
	var b onBehalf
	if err := json.Unmarshal(v, &b); err != nil || b.Owner == "" {
		return session.Invalidf("_meta.grapnel.onBehalf cannot be read")
	}
	role, err := session.ParseRole(b.Role)
	if err != nil {
		return err
	}
	c.opts.Owner, c.opts.Role, c.opts.Agents, c.opts.Local, c.opts.Admin = b.Owner, role, b.Agents, b.Local, false
	return nil
}

// behalf is what this connection tells another instance.
func (c *conn) behalf() onBehalf {
	return onBehalf{Owner: c.opts.Owner, Role: c.opts.Role.String(), Agents: c.opts.Agents, Local: c.opts.Local}
}
