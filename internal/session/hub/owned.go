package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Owned is a hub as one owner may use it: the way of surfaces. A session of
// somebody else that is not shared with the owner, or of an agent outside the
// scope, is answered exactly like one that does not exist. Who only shares a
// session does not rule over it: it stays where and what it is. Its methods are
// those of Hub, and may be called from any goroutine.
type Owned struct {
	hub    *Hub
	owner  string
	agents []string // the scope; empty is all
}

// Of returns the hub for an owner.
func (h *Hub) Of(owner string) Owned { return Owned{hub: h, owner: owner} }

// Within limits the scope to the sessions of some agents; none means all.
func (o Owned) Within(agents []string) Owned {
	o.agents = agents
	return o
}

// Owner is whose hub it is.
func (o Owned) Owner() string { return o.owner }

// may returns what is known of a session in which the owner has at least a role.
func (o Owned) may(ctx context.Context, id string, role session.Role) (session.Info, error) {
	info, err := o.Info(ctx, id)
	if err != nil {
		return session.Info{}, err
	}
	if has, _ := info.RoleOf(o.owner); has < role {
		return session.Info{}, session.ErrRole
	}
	return info, nil
}

// rules returns session.ErrRole for a session that is only shared.
func (o Owned) rules(ctx context.Context, id string) error {
	info, err := o.Info(ctx, id)
	if err == nil && info.Owner != o.owner {
		err = session.ErrRole
	}
	return err
}

// Info returns what is known of a session.
func (o Owned) Info(ctx context.Context, id string) (session.Info, error) {
	info, err := o.hub.Info(ctx, id)
	if err == nil && !o.sees(info) {
		err = session.ErrNotFound
	}
	if err != nil {
		return session.Info{}, err
	}
	return info, nil
}

func (o Owned) sees(info session.Info) bool {
	_, ok := info.RoleOf(o.owner)
	return ok && o.covers(info.Agent)
}

func (o Owned) covers(agent string) bool {
	return len(o.agents) == 0 || slices.Contains(o.agents, agent)
}

// ByKey returns the owner's own session of a key, archived or not.
func (o Owned) ByKey(ctx context.Context, key string) (session.Info, error) {
	f := session.Filter{Key: key, Archived: session.IncludeArchived, Subagents: true}
	found, err := o.own(ctx, f)
	if err != nil {
		return session.Info{}, err
	}
	if len(found) == 0 {
		return session.Info{}, session.ErrNotFound
	}
	return found[0], nil
}

// ByLabel returns the owner's own session of a label, or an InvalidError when
// several have it. Archived ones are left out.
func (o Owned) ByLabel(ctx context.Context, label string) (session.Info, error) {
	found, err := o.own(ctx, session.Filter{Label: label})
	switch {
	case err != nil:
		return session.Info{}, err
	case len(found) == 0:
		return session.Info{}, session.ErrNotFound
	case len(found) > 1:
		return session.Info{}, session.Invalidf("several sessions have the label %q, such as %s and %s: choose one by its key", label, found[0].ID, found[1].ID)
	}
	return found[0], nil
}

// own returns up to two of the owner's own sessions.
func (o Owned) own(ctx context.Context, f session.Filter) ([]session.Info, error) {
	f.Owner, f.Agents = o.owner, o.agents
	found, _, err := o.hub.List(ctx, f, "", 2)
	return found, err
}

// Create is Hub.Create.
func (o Owned) Create(ctx context.Context, n NewSession) (session.Attachment, error) {
	n.Owner = o.owner
	return o.hub.Create(ctx, n)
}

// Reset is Hub.Reset.
func (o Owned) Reset(ctx context.Context, old string, n NewSession) (session.Attachment, error) {
	if err := o.rules(ctx, old); err != nil {
		return nil, err
	}
	n.Owner = o.owner
	return o.hub.Reset(ctx, old, n)
}

// Attach is Hub.Attach, with no more than the owner's role. Who has no say in
// the session, or only a share in it, takes it where it is and brings no servers.
func (o Owned) Attach(ctx context.Context, id string, req session.AttachRequest) (session.Attachment, error) {
	info, err := o.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	role, _ := info.RoleOf(o.owner)
	req.Owner, req.Role = o.owner, min(req.Role, role)
	if info.Owner != o.owner || req.Role < session.Prompter {
		req.Cwd, req.Roots, req.Servers = "", nil, nil
	}
	return o.hub.Attach(ctx, id, req)
}

// Fork is Hub.Fork; the fork is the owner's.
func (o Owned) Fork(ctx context.Context, id string, n NewSession) (session.Attachment, error) {
	if _, err := o.may(ctx, id, session.Prompter); err != nil {
		return nil, err
	}
	n.Owner = o.owner
	return o.hub.Fork(ctx, id, n)
}

// Close is Hub.Close.
func (o Owned) Close(ctx context.Context, id string) error {
	if _, err := o.may(ctx, id, session.Prompter); err != nil {
		return err
	}
	return o.hub.Close(ctx, id)
}

// Stop is Hub.Stop.
func (o Owned) Stop(ctx context.Context, id string) error {
	if _, err := o.may(ctx, id, session.Prompter); err != nil {
		return err
	}
	return o.hub.Stop(ctx, id)
}

// Delete is Hub.Delete: deleting none, or somebody else's, is no error. One that
// is only shared is session.ErrRole.
func (o Owned) Delete(ctx context.Context, id string) error {
	err := o.rules(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return o.hub.Delete(ctx, id)
}

// SetTitle is Hub.SetTitle.
func (o Owned) SetTitle(ctx context.Context, id, title string) error {
	if _, err := o.may(ctx, id, session.Prompter); err != nil {
		return err
	}
	return o.hub.SetTitle(ctx, id, title)
}

// SetLabel is Hub.SetLabel.
func (o Owned) SetLabel(ctx context.Context, id, label string) error {
	if err := o.rules(ctx, id); err != nil {
		return err
	}
	return o.hub.SetLabel(ctx, id, label)
}

// Share is Hub.Share, with anybody but the owner.
func (o Owned) Share(ctx context.Context, id string, c session.ShareChange) error {
	if err := o.rules(ctx, id); err != nil {
		return err
	}
	if c.Owner == o.owner {
		return session.Invalidf("session %s is %s's own", id, c.Owner)
	}
	return o.hub.Share(ctx, id, c)
}

// Revoke is Hub.Revoke.
func (o Owned) Revoke(ctx context.Context, id string, grants jsontext.Value) error {
	if _, err := o.may(ctx, id, session.Prompter); err != nil {
		return err
	}
	return o.hub.Revoke(ctx, id, grants)
}

// Archive is Hub.Archive.
func (o Owned) Archive(ctx context.Context, id string, archived bool) error {
	if err := o.rules(ctx, id); err != nil {
		return err
	}
	return o.hub.Archive(ctx, id, archived)
}

// Status is Hub.Status.
func (o Owned) Status(ctx context.Context, id string) (session.Status, error) {
	if _, err := o.Info(ctx, id); err != nil {
		return session.Status{}, err
	}
	return o.hub.Status(ctx, id)
}

// State is Hub.State, of what this owner was told.
func (o Owned) State(ctx context.Context, info session.Info) string { return o.hub.State(ctx, info) }

// List is Hub.List, of the owner's sessions and those shared with them.
func (o Owned) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	f.Owner, f.Shared, f.Agents = o.owner, true, o.agents
	return o.hub.List(ctx, f, cursor, limit)
}

// Search is Hub.Search, in the owner's sessions and those shared with them.
func (o Owned) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	f.Owner, f.Shared, f.Agents = o.owner, true, o.agents
	return o.hub.Search(ctx, text, f, limit)
}

// Read is Hub.Read.
func (o Owned) Read(ctx context.Context, id string, after session.Seq, yield func(session.Event) error) error {
	if _, err := o.Info(ctx, id); err != nil {
		return err
	}
	return o.hub.Read(ctx, id, after, yield)
}
