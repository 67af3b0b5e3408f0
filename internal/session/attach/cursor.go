package attach

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// A page is what one Next gives at most, so that pumps that share a connection
// take turns and a slow reader holds little.
const (
	pageEvents = 256
	pageBytes  = 256 << 10
)

// Cursor is one attachment's place in a session. Next is for one goroutine.
type Cursor struct {
	board *Board
	id    string
	req   session.AttachRequest
	start session.Seq
	open  []session.Request // at start
	woken chan struct{}

	// at is changed by Next alone.
	at session.Seq

	// Guarded by board.mu.
	told   []told
	ghosts []string // turns whose end was told before it was committed
	over   bool     // its owner may not be here any more
}

// told are events outside the ledger, shown once the cursor has reached after.
type told struct {
	after  session.Seq
	events []session.Event
}

// Attach adds an attachment.
func (b *Board) Attach(req session.AttachRequest) *Cursor {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &Cursor{
		board: b, id: session.NewID("a"), req: req,
		start: b.last, open: b.open, woken: make(chan struct{}, 1),
	}
	switch req.Replay {
	case session.ReplayNone:
		c.at = b.last
	case session.ReplayAfter:
		// A client may have seen more than a store that lost power kept: what
		// comes next is new to it.
		c.at = min(req.After, b.last)
	}
	b.cursors = append(b.cursors, c)
	return c
}

// Detach removes an attachment and reports whether it was there. A Next that
// waits ends with io.EOF.
func (b *Board) Detach(c *Cursor) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.cursors, c)
	if i < 0 {
		return false
	}
	b.cursors = slices.Delete(b.cursors, i, i+1)
	close(c.woken)
	return true
}

// ID names the attachment.
func (c *Cursor) ID() string { return c.id }

// Owner is whose client it is; empty for what is no person's.
func (c *Cursor) Owner() string { return c.req.Owner }

// Role is what the client may do at most.
func (c *Cursor) Role() session.Role { return c.req.Role }

// Request is how the client joined.
func (c *Cursor) Request() session.AttachRequest { return c.req }

// Start is the last event committed when the client joined.
func (c *Cursor) Start() session.Seq { return c.start }

// Open lists the requests open at Start.
func (c *Cursor) Open() []session.Request { return slices.Clone(c.open) }

// Next implements session.Attachment.
func (c *Cursor) Next(ctx context.Context) ([]session.Event, session.Seq, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, c.at, err
		}
		step, events, until := c.look()
		switch step {
		case stepTold:
			return events, c.at, nil
		case stepTail:
			return c.share(events), c.at, nil
		case stepPage:
			return c.page(ctx, until)
		case stepEnd:
			return nil, c.at, c.end()
		}
		select {
		case _, ok := <-c.woken:
			if !ok {
				return nil, c.at, io.EOF
			}
		case <-ctx.Done():
		}
	}
}

type step int

const (
	stepWait step = iota
	stepTold
	stepTail
	stepPage
	stepEnd
)

// look decides what comes next, with the events at hand for it and the number
// up to which events may be shown now.
func (c *Cursor) look() (next step, events []session.Event, until session.Seq) {
	b := c.board
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.over {
		return stepEnd, nil, b.last
	}
	until = b.last
	if len(c.told) > 0 {
		until = min(until, c.told[0].after)
		if c.at >= until {
			events := c.told[0].events
			c.told = c.told[1:]
			return stepTold, events, until
		}
	}
	if c.at < until {
		if events, ok := b.tail.after(c.at, until); ok {
			return stepTail, events, until
		}
		return stepPage, nil, until
	}
	if b.closed != nil {
		return stepEnd, nil, until
	}
	return stepWait, nil, until
}

// page reads the ledger from where the cursor stands, holding nothing while it
// does. Events committed but not published yet are left for later: what they
// open is not on the board.
func (c *Cursor) page(ctx context.Context, until session.Seq) ([]session.Event, session.Seq, error) {
	events, err := c.board.ledger.Read(ctx, c.board.id, c.at, pageEvents)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil, c.at, io.EOF
	case err != nil:
		return nil, c.at, err
	case len(events) == 0:
		return nil, c.at, c.gone()
	}
	if i := slices.IndexFunc(events, func(e session.Event) bool { return e.Seq > until }); i > 0 {
		events = events[:i]
	}
	return c.keep(events), c.at, nil
}

// gone skips numbers that a ledger promised and no longer has.
func (c *Cursor) gone() error {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	if c.board.closed != nil {
		return c.board.closed
	}
	return io.ErrUnexpectedEOF
}

func (c *Cursor) end() error {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	if c.over {
		return io.EOF
	}
	return c.board.closed
}

// Over reports that the attachment was ended because its owner has no right to
// it any more.
func (c *Cursor) Over() bool {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	return c.over
}

func (c *Cursor) tell(after session.Seq, events []session.Event) {
	c.told = append(c.told, told{after, events})
	for _, e := range events {
		if e.Kind == session.KindTurnEnd {
			c.ghosts = append(c.ghosts, e.Turn)
		}
	}
}
