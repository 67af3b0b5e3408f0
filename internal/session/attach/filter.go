package attach

import (
	"slices"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// share moves the cursor over events of the tail and returns the first run of
// those this attachment gets; the rest is met by the next call. The run shares
// the tail's memory.
func (c *Cursor) share(events []session.Event) []session.Event {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	from := 0
	for from < len(events) && !c.wants(&events[from]) {
		from++
	}
	to := from
	for to < len(events) && c.wants(&events[to]) {
		to++
	}
	c.at = events[max(to, 1)-1].Seq
	return events[from:to:to]
}

// keep moves the cursor over a page of its own and returns what this attachment
// gets of it. Nothing is left for another call, which would have to read the
// page again.
func (c *Cursor) keep(page []session.Event) []session.Event {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	c.at = page[len(page)-1].Seq
	n := 0
	for i := range page {
		if !c.wants(&page[i]) {
			continue
		}
		if n != i {
			page[n] = page[i]
		}
		n++
	}
	return page[:n]
}

// wants reports whether this attachment gets an event.
func (c *Cursor) wants(e *session.Event) bool {
	past := e.Seq <= c.start
	switch {
	case e.Retention == session.Private:
		return false
	case past && c.req.Replay == session.ReplayHistory && e.Retention != session.History:
		return false
	}
	switch e.Kind {
	case session.KindUserMessage, session.KindCustom:
		return past || e.By != c.id
	case session.KindPermission, session.KindElicitation:
		// Those open when it attached are in Open.
		return !past && c.board.isOpen(e.ID)
	case session.KindTurnEnd:
		return !slices.Contains(c.ghosts, e.Turn)
	}
	return true
}

func (b *Board) isOpen(request string) bool {
	return slices.ContainsFunc(b.open, func(r session.Request) bool { return r.ID == request })
}
