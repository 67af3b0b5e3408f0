package hub

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Owned is a hub as one owner may use it: the way of surfaces. A session of
// somebody else is answered exactly like one that does not exist. Its methods
// are those of Hub, and may be called from any goroutine.
type Owned struct {
	hub   *Hub
	owner string
}

// Of returns the hub for an owner.
func (h *Hub) Of(owner string) Owned { return Owned{h, owner} }

// check returns session.ErrNotFound unless the session is the owner's.
func (o Owned) check(ctx context.Context, id string) error {
	_, err := o.Info(ctx, id)
	return err
}

// Info returns what is known of a session.
func (o Owned) Info(ctx context.Context, id string) (session.Info, error) {
	info, err := o.hub.Info(ctx, id)
	if err == nil && info.Owner != o.owner {
		err = session.ErrNotFound
	}
	if err != nil {
		return session.Info{}, err
	}
	return info, nil
}

// Create is Hub.Create.
func (o Owned) Create(ctx context.Context, n NewSession) (session.Attachment, error) {
	n.Owner = o.owner
	return o.hub.Create(ctx, n)
}

// Attach is Hub.Attach.
func (o Owned) Attach(ctx context.Context, id string, req session.AttachRequest) (session.Attachment, error) {
	if err := o.check(ctx, id); err != nil {
		return nil, err
	}
	req.Owner = o.owner
	return o.hub.Attach(ctx, id, req)
}

// Fork is Hub.Fork; the fork is the owner's too.
func (o Owned) Fork(ctx context.Context, id string, n NewSession) (session.Attachment, error) {
	if err := o.check(ctx, id); err != nil {
		return nil, err
	}
	n.Owner = o.owner
	return o.hub.Fork(ctx, id, n)
}

// Close is Hub.Close.
func (o Owned) Close(ctx context.Context, id string) error {
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.Close(ctx, id)
}

// Stop is Hub.Stop.
func (o Owned) Stop(ctx context.Context, id string) error {
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.Stop(ctx, id)
}

// Delete is Hub.Delete: deleting none, or somebody else's, is no error.
func (o Owned) Delete(ctx context.Context, id string) error {
	err := o.check(ctx, id)
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
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.SetTitle(ctx, id, title)
}

// Revoke is Hub.Revoke.
func (o Owned) Revoke(ctx context.Context, id string, grants jsontext.Value) error {
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.Revoke(ctx, id, grants)
}

// Archive is Hub.Archive.
func (o Owned) Archive(ctx context.Context, id string, archived bool) error {
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.Archive(ctx, id, archived)
}

// Status is Hub.Status.
func (o Owned) Status(ctx context.Context, id string) (session.Status, error) {
	if err := o.check(ctx, id); err != nil {
		return session.Status{}, err
	}
	return o.hub.Status(ctx, id)
}

// List is Hub.List, of the owner's sessions.
func (o Owned) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	f.Owner = o.owner
	return o.hub.List(ctx, f, cursor, limit)
}

// Search is Hub.Search, in the owner's sessions.
func (o Owned) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	f.Owner = o.owner
	return o.hub.Search(ctx, text, f, limit)
}

// Read is Hub.Read.
func (o Owned) Read(ctx context.Context, id string, after session.Seq, yield func(session.Event) error) error {
	if err := o.check(ctx, id); err != nil {
		return err
	}
	return o.hub.Read(ctx, id, after, yield)
}
