package bridge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
)

// settleBound is how long after a session was resumed the gateway offers again
// what is still open in it.
const settleBound = time.Second

// resume goes on with every session after what the client has of it. What the
// client missed comes before the answers, so they may take long; a gateway that
// says nothing meanwhile is given up.
func (b *Bridge) resume(ctx context.Context, l *link) error {
	type one struct {
		id     string
		params []byte
	}
	var again []one
	b.mu.Lock()
	for id, s := range b.state.sessions {
		if !s.live || b.state.restoring(id) != nil {
			continue
		}
		s.floor = s.last
		again = append(again, one{id, s.resumption(id)})
	}
	b.mu.Unlock()
	silent := l.guard(b.opts.Silence)
	defer silent.stop()
	for _, s := range again {
		msg, err := b.ask(ctx, l, "session/resume", s.params)
		switch {
		case err != nil && silent.struck():
			return errors.New("the gateway takes the connection and does not go on with its sessions: look at its log, and start it anew if it hangs")
		case err != nil:
			return err
		}
		if m := scan(msg); m.result.isZero() {
			b.gone(s.id, text(msg, find(msg, m.failed, "message")))
		}
	}
	b.settleSoon(ctx, l)
	return nil
}

// resumption is what resumes a session: without the directory, which the gateway
// knows.
func (s *session) resumption(id string) []byte {
	params := []byte(`{"sessionId":` + quote(id) + `,"mcpServers":[]}`)
	if s.servers != "" {
		params = set(params, s.servers, "mcpServers")
	}
	if s.roots != "" {
		params = set(params, s.roots, "additionalDirectories")
	}
	return set(params, strconv.FormatUint(s.last, 10), "_meta", "grapnel", "after")
}

// gone forgets a session that the gateway does not go on with, and says so.
func (b *Bridge) gone(id, why string) {
	b.mu.Lock()
	delete(b.state.sessions, id)
	b.mu.Unlock()
	b.opts.Logger.Warn("a session is gone from the gateway", "session", id, "err", why)
	b.tell(b.notice(id, "error", "This session could not be taken up again", why))
}

// settleSoon withdraws what the gateway does not offer any more.
func (b *Bridge) settleSoon(ctx context.Context, l *link) {
	b.mu.Lock()
	open := len(b.state.asks) > 0
	b.mu.Unlock()
	if open {
		time.AfterFunc(settleBound, func() {
			if ctx.Err() == nil { // else the bridge has ended, and its client with it
				b.settle(l)
			}
		})
	}
}

func (b *Bridge) settle(l *link) {
	var withdrawn [][]byte
	b.mu.Lock()
	for key, a := range b.state.asks {
		if b.now != l || a.offered == b.number {
			continue
		}
		delete(b.state.asks, key)
		if a.answer == nil {
			withdrawn = append(withdrawn, notification("$/cancel_request", `{"requestId":`+key+`}`))
		}
	}
	b.mu.Unlock()
	for _, msg := range withdrawn {
		b.tell(msg)
	}
}

// catchUp sends what the client said while there was no connection, and again
// what was not answered on the last one; then the link is open.
func (b *Bridge) catchUp(ctx context.Context, l *link) {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	waiting := b.state.calls
	b.state.calls = nil
	var lost []*call
	for _, c := range waiting {
		if c.sent && !c.repeatable() {
			lost = append(lost, c)
		} else {
			b.state.calls = append(b.state.calls, c)
		}
	}
	waiting = slices.Clone(b.state.calls)
	b.up, b.fault = true, nil
	b.mu.Unlock()
	b.fail(lost, func(c *call) []byte {
		return failure(c.id, int(acp.CodeInternalError), "the connection to the gateway was lost while it worked on "+
			c.method+": it may have been done, look before you do it again", dataInterrupted)
	})
	for _, c := range waiting {
		b.sendAgain(ctx, l, c)
	}
}

// sendAgain sends a call on a new link; sending is held.
func (b *Bridge) sendAgain(ctx context.Context, l *link, c *call) {
	b.mu.Lock()
	msg, again := c.msg, c.sent
	if s := b.state.sessions[c.session]; s != nil && c.restores() {
		msg = s.restored(c)
	}
	if c.id == "" {
		b.state.calls = slices.DeleteFunc(b.state.calls, func(o *call) bool { return o == c })
	}
	cancelled := again && c.cancelled
	b.mu.Unlock()
	b.put(ctx, l, c, msg)
	if cancelled {
		_ = l.write(ctx, notification("$/cancel_request", `{"requestId":`+c.id+`}`))
	}
}

// restored is a load or resume as it is sent on a new link: one that was under
// way goes on where it was.
func (s *session) restored(c *call) []byte {
	s.floor = 0
	if !c.sent || s.last == 0 || !c.begun && c.method == "session/load" || !s.live && c.method == "session/resume" {
		return c.msg
	}
	s.floor = s.last
	return set(c.msg, strconv.FormatUint(s.last, 10), "params", "_meta", "grapnel", "after")
}
