package attach

import (
	"slices"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// take moves the cursor over a page and returns the first run of events in it
// that this attachment gets; the rest of the page is met by the next call. The
// run shares the page's memory.
func (c *Cursor) take(page []session.Event) []session.Event {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	from := slices.IndexFunc(page, c.wants)
	if from < 0 {
		c.at = page[len(page)-1].Seq
		return nil
	}
	to := from + 1
	for to < len(page) && c.wants(page[to]) {
		to++
	}
	c.at = page[to-1].Seq
	return page[from:to:to]
}

// wants reports whether this attachment gets an event.
func (c *Cursor) wants(e session.Event) bool {
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
