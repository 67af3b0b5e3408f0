package hub

import (
	"context"
	"errors"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// makeRoom reserves a place among the active sessions of an owner. Where all are
// taken it parks one that is idle and that nobody is attached to: clients that
// broke off leave such ones, and they would keep their owner out until they are
// parked for their age.
func (h *Hub) makeRoom(ctx context.Context, s slot) error {
	err := h.reserve(s)
	if !errors.Is(err, session.ErrSessionLimit) {
		return err
	}
	for _, e := range h.activeNow() {
		if e.parkUnattached(ctx, s) {
			return h.reserve(s)
		}
	}
	return err
}

// activeNow lists the active sessions.
func (h *Hub) activeNow() []*entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*entry
	for _, e := range h.entries {
		if e.actor.Load() != nil {
			list = append(list, e)
		}
	}
	return list
}

// parkUnattached parks a session of a place that is idle and unattached. It waits for nobody
// who holds the gate, for they may wait for the caller.
func (e *entry) parkUnattached(ctx context.Context, s slot) bool {
	select {
	case e.gate <- struct{}{}:
	default:
		return false
	}
	defer e.unlock()
	if e.dead || e.actor.Load() == nil || e.slot != s || e.board.Attached() > 0 {
		return false
	}
	parked, err := e.stopIdle(ctx)
	if err != nil || !parked {
		return false
	}
	e.hub.forgetUnused(e)
	return true
}
