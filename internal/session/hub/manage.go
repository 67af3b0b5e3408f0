package hub

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
)

// dropParked forgets a parked session nobody is attached to any more.
func (h *Hub) dropParked(e *entry) {
	if e.lock(context.Background()) != nil {
		return
	}
	defer e.unlock()
	h.forgetUnused(e)
}

// Close cancels what a session does and frees it; its record stays. Of one that
// is not active here it answers session.ErrNotActive, or session.ErrNotFound when
// there is no such session. A parked session somebody is attached to is closed.
func (h *Hub) Close(ctx context.Context, id string) error {
	return h.finish(ctx, id, func(a *actor.Actor) error { return a.Close(ctx) })
}

// Stop waits for the running turn and frees the session; queued prompts are
// cancelled. Meanwhile the session can be closed, deleted and attached to.
func (h *Hub) Stop(ctx context.Context, id string) error {
	e, ok := h.find(id)
	if !ok {
		return h.notActive(ctx, id)
	}
	a := e.actor.Load()
	if a == nil { // parked, or on its way here or there
		return h.finish(ctx, id, func(a *actor.Actor) error { return a.Stop(ctx) })
	}
	if err := a.Stop(ctx); err != nil {
		go e.closed(a) // it goes on stopping
		return err
	}
	e.lost(a, io.EOF)
	return nil
}

func (h *Hub) finish(ctx context.Context, id string, f func(*actor.Actor) error) error {
	e, ok := h.find(id)
	if !ok {
		return h.notActive(ctx, id)
	}
	if err := e.lock(ctx); err != nil {
		return err
	}
	defer e.unlock()
	if e.dead || e.board == nil {
		return h.notActive(ctx, id)
	}
	return e.close(ctx, f)
}

func (h *Hub) notActive(ctx context.Context, id string) error {
	if _, err := h.opts.Ledger.Info(ctx, id); err != nil {
		return err
	}
	return session.ErrNotActive
}

// Delete removes a session with its record, and those of its subagents. Deleting
// none is no error; one that is active in another instance is a
// *session.ActiveElsewhereError.
func (h *Hub) Delete(ctx context.Context, id string) error {
	e, err := h.join(ctx, id)
	if err != nil {
		return err
	}
	defer e.unlock()
	if err := e.close(ctx, func(a *actor.Actor) error { return a.Close(ctx) }); err != nil {
		return err
	}
	children, err := Subagents(ctx, h.opts.Ledger, id)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := h.Delete(ctx, child.ID); err != nil {
			return err
		}
	}
	return h.opts.Ledger.Delete(ctx, id)
}

// SetTitle names a session for good: agents do not rename it any more.
func (h *Hub) SetTitle(ctx context.Context, id, title string) error {
	now, yes := h.opts.Now(), true
	return h.change(ctx, id, session.InfoChange{Title: &title, TitleSet: &yes, UpdatedAt: &now})
}

// SetLabel gives a session a label, or with "" takes it away. Several sessions
// may have one label.
func (h *Hub) SetLabel(ctx context.Context, id, label string) error {
	return h.change(ctx, id, session.InfoChange{Label: &label})
}

// Share lets another owner into a session, or out of it: attachments that have
// no right to be there any more end.
func (h *Hub) Share(ctx context.Context, id string, c session.ShareChange) error {
	if err := h.change(ctx, id, session.InfoChange{Shares: []session.ShareChange{c}}); err != nil {
		return err
	}
	e, ok := h.find(id)
	if !ok {
		return nil
	}
	if err := e.lock(ctx); err != nil {
		return err
	}
	defer e.unlock()
	if e.dead || e.board == nil || e.actor.Load() != nil { // an actor has told the board
		return nil
	}
	info, err := h.opts.Ledger.Info(ctx, id)
	if err == nil {
		e.board.SetInfo(info)
	}
	return err
}

// Revoke takes back what people allowed for a whole session: the given items of
// its Info.Grants. Where the session is active its agent asks again at once.
func (h *Hub) Revoke(ctx context.Context, id string, grants jsontext.Value) error {
	if e, ok := h.find(id); ok {
		if a := e.actor.Load(); a != nil {
			if err := a.Revoke(ctx, grants); !errors.Is(err, session.ErrNotActive) {
				return err
			}
		}
	}
	info, err := h.opts.Ledger.Info(ctx, id)
	if err != nil {
		return err
	}
	left, err := session.WithoutGrants(info.Grants, grants)
	if err != nil {
		return err
	}
	return h.opts.Ledger.Update(ctx, id, 0, session.InfoChange{Grants: &left})
}

// Archive closes a session and hides it, or brings it back.
func (h *Hub) Archive(ctx context.Context, id string, archived bool) error {
	if archived {
		if err := h.Close(ctx, id); err != nil && !errors.Is(err, session.ErrNotActive) {
			return err
		}
	}
	return h.change(ctx, id, session.InfoChange{Archived: &archived})
}

func (h *Hub) change(ctx context.Context, id string, c session.InfoChange) error {
	if e, ok := h.find(id); ok {
		if a := e.actor.Load(); a != nil {
			if err := a.Change(ctx, c); !errors.Is(err, session.ErrNotActive) {
				return err
			}
		}
	}
	return h.opts.Ledger.Update(ctx, id, 0, c)
}

// Status says whether a session is active in this process and what it does.
func (h *Hub) Status(ctx context.Context, id string) (session.Status, error) {
	if e, ok := h.find(id); ok {
		if a := e.actor.Load(); a != nil {
			if s, err := a.Status(ctx); !errors.Is(err, session.ErrNotActive) {
				return s, err
			}
		}
	}
	info, err := h.opts.Ledger.Info(ctx, id)
	return session.Status{Active: info.Active}, err
}

// State says in a word what a session does that info was read of.
func (h *Hub) State(ctx context.Context, info session.Info) string {
	if e, ok := h.find(info.ID); ok {
		if a := e.actor.Load(); a != nil {
			if s, err := a.Status(ctx); err == nil {
				return s.State()
			}
		}
	}
	if info.Active {
		return session.StateElsewhere
	}
	return session.StateParked
}

// Info returns what is known of a session.
func (h *Hub) Info(ctx context.Context, id string) (session.Info, error) {
	return h.opts.Ledger.Info(ctx, id)
}

// List pages through sessions, as session.Ledger.List.
func (h *Hub) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	return h.opts.Ledger.List(ctx, f, cursor, limit)
}

// Search finds messages, as session.Ledger.Search.
func (h *Hub) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	return h.opts.Ledger.Search(ctx, text, f, limit)
}

// readPage is how many events an export reads at once.
const readPage = 512

// Read yields a session's events after seq, without the private ones, for
// export. Nothing is held while yield runs.
func (h *Hub) Read(ctx context.Context, id string, after session.Seq, yield func(session.Event) error) error {
	for {
		events, err := h.opts.Ledger.Read(ctx, id, after, readPage)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			after = e.Seq
			if e.Retention == session.Private {
				continue
			}
			if err := yield(e); err != nil {
				return err
			}
		}
	}
}

// Drain takes no new work. Running and queued turns go on until ctx ends, then
// they are cancelled; when it returns every session is closed. It may take as
// long as cancelled drivers and their closing need after ctx.
func (h *Hub) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.draining = true
	var all []*entry
	for _, e := range h.entries {
		all = append(all, e)
	}
	h.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, e := range all {
		wg.Go(func() { errs[i] = e.drain(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (e *entry) drain(ctx context.Context) error {
	if err := e.lock(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer e.unlock()
	if e.dead {
		return nil
	}
	return e.close(ctx, func(a *actor.Actor) error { return a.Drain(ctx) })
}
