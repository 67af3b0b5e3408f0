package hub

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/attach"
)

// attachment is one client's place in a session. It outlives parking: what the
// client does next restores the session.
type attachment struct {
	*attach.Cursor
	entry *entry
	board *attach.Board
}

var _ session.Attachment = (*attachment)(nil)

// Info implements session.Attachment.
func (t *attachment) Info() session.Info { return t.board.Info() }

// Setup implements session.Attachment.
func (t *attachment) Setup() session.Setup {
	if a := t.entry.actor.Load(); a != nil {
		return a.Setup()
	}
	return t.board.Setup()
}

// may checks the attachment's role.
func (t *attachment) may(role session.Role) error {
	switch {
	case t.Over():
		return session.ErrNotFound
	case t.Request().Role < role:
		return session.ErrRole
	}
	return nil
}

// with runs f on the session's actor, restoring the session when it is parked.
func (t *attachment) with(ctx context.Context, f func(*actor.Actor) error) error {
	for {
		a, err := t.actor(ctx)
		if err != nil {
			return err
		}
		err = f(a)
		if !errors.Is(err, session.ErrNotActive) || errors.Is(err, actor.ErrClosing) || t.closed(ctx, a) {
			return err
		}
	}
}

// closed reports whether an actor that took no more work was closed for good,
// and not parked.
func (t *attachment) closed(ctx context.Context, a *actor.Actor) bool {
	e := t.entry
	if e.lock(ctx) != nil {
		return true
	}
	defer e.unlock()
	return e.dead || e.actor.Load() == a
}

func (t *attachment) actor(ctx context.Context) (*actor.Actor, error) {
	e := t.entry
	if a := e.actor.Load(); a != nil && !e.renew.Load() {
		return a, nil
	}
	if err := e.lock(ctx); err != nil {
		return nil, err
	}
	defer e.unlock()
	if e.dead || t.board.Closed() {
		return nil, session.ErrNotActive
	}
	if err := e.activate(ctx, session.AttachRequest{}); err != nil {
		return nil, err
	}
	return e.actor.Load(), nil
}

// Prompt implements session.Attachment.
func (t *attachment) Prompt(ctx context.Context, req session.PromptRequest) (p session.Prompted, err error) {
	if err := t.may(session.Prompter); err != nil {
		return p, err
	}
	err = t.with(ctx, func(a *actor.Actor) error {
		p, err = a.Prompt(ctx, t.Cursor, req)
		return err
	})
	return p, err
}

// Steer implements session.Attachment.
func (t *attachment) Steer(ctx context.Context, content []jsontext.Value) (how session.Steered, turn string, err error) {
	if err := t.may(session.Prompter); err != nil {
		return session.SteerFailed, "", err
	}
	err = t.with(ctx, func(a *actor.Actor) error {
		how, turn, err = a.Steer(ctx, t.Cursor, content)
		return err
	})
	return how, turn, err
}

// Cancel implements session.Attachment.
func (t *attachment) Cancel(ctx context.Context) error {
	if err := t.may(session.Prompter); err != nil {
		return err
	}
	if a := t.entry.actor.Load(); a != nil {
		return a.Cancel(ctx)
	}
	return nil
}

// CancelTurn implements session.Attachment.
func (t *attachment) CancelTurn(ctx context.Context, turn string) error {
	if err := t.may(session.Prompter); err != nil {
		return err
	}
	if a := t.entry.actor.Load(); a != nil {
		return a.CancelTurn(ctx, turn)
	}
	return nil
}

// Answer implements session.Attachment.
func (t *attachment) Answer(ctx context.Context, v session.Verdict) (bool, error) {
	if err := t.may(session.Approver); err != nil {
		return false, err
	}
	if a := t.entry.actor.Load(); a != nil {
		return a.Answer(ctx, t.Cursor, v)
	}
	return false, nil
}

// Set implements session.Attachment. A mode can answer in advance what only
// approvers may answer, and so can an option nobody here knows; who may only
// prompt chooses the model, how much it thinks, and what is shown.
func (t *attachment) Set(ctx context.Context, option, value string) (s session.Setup, err error) {
	role := session.Approver
	if forPrompters(t.Setup(), option) {
		role = session.Prompter
	}
	if err := t.may(role); err != nil {
		return s, err
	}
	err = t.with(ctx, func(a *actor.Actor) error {
		s, err = a.Set(ctx, t.Request().Owner, option, value)
		return err
	})
	return s, err
}

// forPrompters reports an option that chooses the model, how it thinks or what
// clients see of it (ACP SessionConfigOptionCategory).
func forPrompters(s session.Setup, option string) bool {
	var list []struct {
		ID       string `json:"id"`
		Category string `json:"category"`
	}
	if json.Unmarshal(s.ConfigOptions, &list) != nil {
		return false
	}
	for _, o := range list {
		if o.ID == option {
			return o.Category == session.OptionModel || o.Category == session.OptionThought || o.Category == session.CategoryDisplay
		}
	}
	return false
}

// Record implements session.Attachment.
func (t *attachment) Record(ctx context.Context, body jsontext.Value) error {
	if err := t.may(session.Prompter); err != nil {
		return err
	}
	return t.with(ctx, func(a *actor.Actor) error { return a.Record(ctx, t.ID(), body) })
}

// Detach implements session.Attachment.
func (t *attachment) Detach() {
	if !t.board.Detach(t.Cursor) && !t.Over() {
		return
	}
	if a := t.entry.actor.Load(); a != nil {
		a.Detached()
		return
	}
	go t.entry.hub.dropParked(t.entry) // it may be about to be restored, which takes time
}
