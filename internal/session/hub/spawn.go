package hub

import (
	"context"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Spawn stores and opens the session of a subagent and attaches the caller. Its
// ID, Parent, Owner, Agent, Cwd, Roots and Title are info's. It takes no part of
// its owner's limit of active sessions: who spawns bounds how many there are.
func (h *Hub) Spawn(ctx context.Context, info session.Info, at session.AttachRequest) (session.Attachment, error) {
	now := h.opts.Now()
	info.Subagent, info.CreatedAt, info.UpdatedAt = true, now, now
	info.Key = session.NewKey(info.Agent, session.KeySubagent)
	return h.create(ctx, NewSession{
		Owner: info.Owner, Agent: info.Agent, Cwd: info.Cwd, Roots: info.Roots, Parent: info.Parent, Attach: at,
	}, info, making{store: h.opts.Ledger.Create})
}

// subagentsPage is how many sessions are listed at once.
const subagentsPage = 100

// Subagents lists the sessions of a session's subagents.
func Subagents(ctx context.Context, l session.Ledger, id string) ([]session.Info, error) {
	var found []session.Info
	f := session.Filter{Parent: id, Archived: session.IncludeArchived, Subagents: true}
	for cursor := ""; ; {
		page, next, err := l.List(ctx, f, cursor, subagentsPage)
		if err != nil {
			return nil, err
		}
		for _, info := range page {
			if info.Subagent {
				found = append(found, info)
			}
		}
		if cursor = next; next == "" {
			return found, nil
		}
	}
}
