package hub

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/fold"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// forkBatch is how many events a fork copies in one append.
const forkBatch = 256

// Fork makes a session with the past of another up to its last ended turn, the
// driver's own events included. The original is only read, and may be active
// anywhere. Empty fields of n are the original's.
func (h *Hub) Fork(ctx context.Context, id string, n NewSession) (session.Attachment, error) {
	info, err := h.opts.Ledger.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := actor.Restore(ctx, h.opts.Ledger, id)
	if err != nil {
		return nil, err
	}
	fillIn(&n.Owner, info.Owner)
	fillIn(&n.Agent, info.Agent)
	if n.Cwd == "" {
		n.Cwd, n.Roots = info.Cwd, info.Roots
	}
	n.Parent = id
	copied := n.info(h.opts.Now())
	copied.Title, copied.TitleSet = info.Title, info.TitleSet
	c := &copier{ledger: h.opts.Ledger, from: id, to: copied.ID, until: s.LastEnd}
	return h.create(ctx, n, copied, making{h.opts.Ledger.Create, func(fence session.Fence) (*state.State, error) {
		if err := c.run(ctx, fence); err != nil {
			return nil, fmt.Errorf("fork session %s: %w", id, err)
		}
		return actor.Restore(ctx, h.opts.Ledger, copied.ID)
	}})
}

func fillIn(dst *string, v string) {
	if *dst == "" {
		*dst = v
	}
}

// copier writes the past of one session into another.
type copier struct {
	ledger   session.Ledger
	from, to string
	until    session.Seq // of the original
	last     session.Seq // of the copy
	folded   fold.Fold
}

func (c *copier) run(ctx context.Context, fence session.Fence) error {
	for after := session.Seq(0); after < c.until; {
		events, err := c.ledger.Read(ctx, c.from, after, forkBatch)
		if err != nil || len(events) == 0 {
			return err
		}
		var b session.Batch
		for _, e := range events {
			after = e.Seq
			if e.Seq > c.until || !belongs(e) {
				continue
			}
			b.Events = append(b.Events, c.copy(e))
			if e.Kind == session.KindTurnEnd {
				b.Docs = append(b.Docs, c.folded.Take()...)
			}
		}
		b.Durable = after >= c.until
		if len(b.Events) == 0 {
			continue
		}
		if _, err := c.ledger.Append(ctx, c.to, fence, b); err != nil {
			return err
		}
	}
	return nil
}

// belongs reports whether an event is part of a session's past: what is shown
// on load, what the driver and the choices made go on from, and the turns.
func belongs(e session.Event) bool {
	switch e.Kind {
	case session.KindDriverPrivate, session.KindSet, session.KindTurnStart, session.KindTurnEnd:
		return true
	}
	return e.Retention == session.History
}

// copy makes an event the fork's own.
func (c *copier) copy(e session.Event) session.Event {
	c.last++
	e.ID, e.Seq = session.NewID("e"), c.last
	if e.Kind == session.KindTurnStart {
		// The fork answers no repeat of a prompt that was the original's.
		e.Body, _ = json.Marshal(session.TurnStart{Turn: e.Turn})
	}
	if !e.Marks.SessionID.IsZero() {
		id, _ := jsontext.AppendQuote(nil, c.to)
		e.Body = ingest.Splice(e.Body, ingest.Edit{At: e.Marks.SessionID, With: id})
		if facts, err := ingest.Look(e.Body); err == nil {
			e.Marks = facts.Marks
		}
	}
	c.folded.Event(e)
	return e
}
