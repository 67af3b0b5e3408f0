// Package attach shows one session to those attached to it. An attachment is a
// cursor, not a queue: it reads the session's hot tail once it has caught up and
// pages of the ledger while it is behind, so a slow reader costs nothing and a
// burst disconnects nobody.
package attach

import (
	"slices"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Board is what the attachments of one session share: the tail, the open
// requests, what is known of the session. It outlives the session's actor, so
// that a client stays attached while the session is parked. Safe for concurrent
// use; its lock is held for moments only and nothing is called under it.
type Board struct {
	id     string
	ledger session.Ledger

	mu      sync.Mutex
	info    session.Info
	setup   session.Setup
	last    session.Seq // last committed
	tail    tail
	open    []session.Request
	cursors []*Cursor
	closed  error // what Next returns at the end; nil while the session goes on
}

// NewBoard makes the board of a session whose last committed event is last.
func NewBoard(ledger session.Ledger, info session.Info, last session.Seq) *Board {
	return &Board{id: info.ID, ledger: ledger, info: info, last: last}
}

// Publish shows committed events, which follow those shown before, together
// with what they did to the open requests.
func (b *Board) Publish(events []session.Event, opened []session.Request, settled []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = append(b.open, opened...)
	b.settle(settled)
	b.tail.read(b.slowest())
	b.tail.add(events)
	if n := len(events); n > 0 {
		b.last = events[n-1].Seq
	}
	b.wake()
}

// slowest is up to where every attachment has read.
func (b *Board) slowest() session.Seq {
	at := b.last
	for _, c := range b.cursors {
		at = min(at, c.at)
	}
	return at
}

// settle builds a new slice: the old one may be in an attachment's hands.
func (b *Board) settle(ids []string) {
	if len(ids) == 0 {
		return
	}
	var open []session.Request
	for _, r := range b.open {
		if !slices.Contains(ids, r.ID) {
			open = append(open, r)
		}
	}
	b.open = open
}

// Tell shows events that could not be committed to everyone attached now. A
// later commit of the end of such a turn is not shown to them again.
func (b *Board) Tell(events ...session.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cursors {
		c.tell(b.last, events)
	}
	b.wake()
}

// Withdraw forgets requests that ended without a committed verdict.
func (b *Board) Withdraw(ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settle(ids)
}

// Resume says where the ledger stands after the session was restored; cursors
// page up to there.
func (b *Board) Resume(info session.Info, last session.Seq) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.info, b.last = info, last
	b.expel()
	b.tail, b.open = tail{}, nil
	b.wake()
}

// Park frees the tail.
func (b *Board) Park() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tail = tail{}
}

// Close ends every cursor with err once it has read what was committed.
func (b *Board) Close(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed == nil {
		b.closed = err
	}
	b.wake()
}

// Closed reports whether the board was closed.
func (b *Board) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed != nil
}

func (b *Board) wake() {
	for _, c := range b.cursors {
		select {
		case c.woken <- struct{}{}:
		default:
		}
	}
}

// Info returns what is known of the session.
func (b *Board) Info() session.Info {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.info
}

// SetInfo replaces what is known of the session. An attachment whose owner has
// not, or not any more, the right to its role ends.
func (b *Board) SetInfo(info session.Info) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.info = info
	b.expel()
}

// expel ends the attachments of owners whose share is gone or less than it was.
func (b *Board) expel() {
	b.cursors = slices.DeleteFunc(b.cursors, func(c *Cursor) bool {
		role, ok := b.info.RoleOf(c.req.Owner)
		if c.req.Owner == "" || ok && role >= c.req.Role {
			return false
		}
		c.over = true
		close(c.woken)
		return true
	})
}

// Setup returns what the agent offered when it was asked last.
func (b *Board) Setup() session.Setup {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.setup
}

// SetSetup replaces what the agent offers.
func (b *Board) SetSetup(s session.Setup) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.setup = s
}

// Able lists the attachments that can answer a kind of request.
func (b *Board) Able(kind session.Kind) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for _, c := range b.cursors {
		if c.req.Role >= session.Approver && slices.Contains(c.req.Answers, kind) {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// Waiting reports whether a request to people is open.
func (b *Board) Waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open) > 0
}

// Attached is the number of attachments.
func (b *Board) Attached() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.cursors)
}
