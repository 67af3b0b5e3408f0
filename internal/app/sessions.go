package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

const (
	// storePage is how many sessions or events are read at once.
	storePage = 512
	// askInstance bounds a request to another instance, which answers at once or
	// hangs.
	askInstance = 5 * time.Second
)

// Sessions is the session store for a command that comes and goes while
// instances run on the same store. It owns no session.
type Sessions struct {
	ledger session.Ledger
	store  *sqlite.Ledger // nil where there is none
	peers  *instance.Instance
	conf   *config.Config
	redact *secret.Redactor // nil until Hide
}

// Hide makes Events and Redacted take out the secrets that r knows.
func (s *Sessions) Hide(r *secret.Redactor) { s.redact = r }

// Redacted returns text without the secrets that are to be hidden.
func (s *Sessions) Redacted(text string) string { return s.redact.Replace(text) }

// OpenSessions opens the store of a configuration, for reading only where
// nothing may be written. A store that does not exist is empty and is not made.
// A damaged one is moved aside, which the error names.
func OpenSessions(ctx context.Context, c *config.Config) (*Sessions, error) {
	s := &Sessions{peers: instance.Observe(c.Home().Run()), conf: c}
	path := c.StorePath()
	if !sqlite.Exists(path) {
		s.ledger = memory.New()
		return s, nil
	}
	store, err := sqlite.Open(ctx, path, s.peers)
	if errors.Is(err, session.ErrReadOnly) || errors.As(err, new(*sqlite.UnreadableError)) {
		store, err = sqlite.OpenReadOnly(ctx, path, s.peers)
	}
	if err != nil {
		return nil, err
	}
	s.store = store
	s.ledger = recordedLedger{Ledger: store, audit: openAudit(c, nil)}
	return s, nil
}

// Backup writes a copy of the whole store to a file that is not there yet, also
// while instances run.
func (s *Sessions) Backup(ctx context.Context, path string) error {
	if s.store == nil {
		return fmt.Errorf("there is no session store in %s yet, so there is nothing to copy", s.conf.StorePath())
	}
	return s.store.Backup(ctx, path)
}

// Close closes the store.
func (s *Sessions) Close() error { return s.ledger.Close() }

// List returns the newest sessions a filter selects, limit at most; 0 means all.
func (s *Sessions) List(ctx context.Context, f session.Filter, limit int) ([]session.Info, error) {
	var all []session.Info
	for cursor := ""; ; {
		page := storePage
		if limit > 0 {
			page = min(page, limit-len(all))
		}
		infos, next, err := s.ledger.List(ctx, f, cursor, page)
		if err != nil {
			return nil, err
		}
		all = append(all, infos...)
		if next == "" || len(all) == limit {
			return all, nil
		}
		cursor = next
	}
}

// Find returns the session of an id or of the beginning of one. The error
// matches session.ErrNotFound when there is none.
func (s *Sessions) Find(ctx context.Context, id string) (session.Info, error) {
	info, err := s.ledger.Info(ctx, id)
	if !errors.Is(err, session.ErrNotFound) {
		return info, err
	}
	all, err := s.List(ctx, session.Filter{Archived: session.IncludeArchived, Subagents: true}, 0)
	if err != nil {
		return session.Info{}, err
	}
	var found []session.Info
	for _, i := range all {
		if id != "" && (strings.HasPrefix(i.ID, id) || strings.HasPrefix(strings.TrimPrefix(i.ID, "s_"), id)) {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return session.Info{}, fmt.Errorf("%w: %s; grapnel session list shows what there is", session.ErrNotFound, id)
	case 1:
		return found[0], nil
	}
	return session.Info{}, fmt.Errorf("%d sessions begin with %s, such as %s and %s: give more of the id", len(found), id, found[0].ID, found[1].ID)
}

// Search finds messages, as session.Ledger.Search.
func (s *Sessions) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	return s.ledger.Search(ctx, text, f, limit)
}

// Events calls yield for every event of a session that is not private, in
// order.
func (s *Sessions) Events(ctx context.Context, id string, yield func(session.Event) error) error {
	for after := session.Seq(0); ; {
		events, err := s.ledger.Read(ctx, id, after, storePage)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			after = e.Seq
			if e.Retention == session.Private {
				continue
			}
			e.Body = s.redact.ReplaceJSON(e.Body)
			if err := yield(e); err != nil {
				return err
			}
		}
	}
}

// Delete removes a session and those of its subagents. One that is active in an
// instance is refused.
func (s *Sessions) Delete(ctx context.Context, id string) error {
	children, err := hub.Subagents(ctx, s.ledger, id)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := s.Delete(ctx, child.ID); err != nil {
			return err
		}
	}
	err = s.ledger.Delete(ctx, id)
	if elsewhere, ok := errors.AsType[*session.ActiveElsewhereError](err); ok {
		return fmt.Errorf("session %s is active in %s: close it there, then delete it", id, s.who(elsewhere.Instance))
	}
	return err
}

// Rename gives a session a title for good. Where it is active, the instance that
// has it is asked to.
func (s *Sessions) Rename(ctx context.Context, id, title string) error {
	now, yes := time.Now(), true
	change := session.InfoChange{Title: &title, TitleSet: &yes, UpdatedAt: &now}
	return s.change(ctx, id, change, v1.MethodSessionSetTitle, map[string]any{"title": title})
}

// SetLabel gives a session a label, or with "" takes it away, as Rename does.
func (s *Sessions) SetLabel(ctx context.Context, id, label string) error {
	return s.change(ctx, id, session.InfoChange{Label: &label}, serve.MethodLabel, map[string]any{"label": label})
}

// Share lets another owner into a session, or out of it, as Rename does.
func (s *Sessions) Share(ctx context.Context, id string, c session.ShareChange) error {
	params := map[string]any{"owner": c.Owner, "role": c.Role.String()}
	if c.Revoke {
		params = map[string]any{"owner": c.Owner, "revoke": true}
	}
	return s.change(ctx, id, session.InfoChange{Shares: []session.ShareChange{c}}, serve.MethodShare, params)
}

// change patches a session; where it is active, its instance is asked to by a
// method with params.
func (s *Sessions) change(ctx context.Context, id string, c session.InfoChange, method string, params map[string]any) error {
	err := s.ledger.Update(ctx, id, 0, c)
	elsewhere, ok := errors.AsType[*session.ActiveElsewhereError](err)
	if !ok {
		return err
	}
	info, err := s.ledger.Info(ctx, id)
	if err != nil {
		return err
	}
	params["sessionId"] = id
	if err := askAs(ctx, elsewhere.Socket, info.Owner, method, params, nil); err != nil {
		return fmt.Errorf("session %s is active in %s, which did not change it: %w", id, s.who(elsewhere.Instance), err)
	}
	return nil
}

// who names an instance for people.
func (s *Sessions) who(id string) string {
	if p, ok := s.peers.Peer(id); ok {
		return fmt.Sprintf("process %d (instance %s)", p.PID, id)
	}
	return "instance " + id
}
