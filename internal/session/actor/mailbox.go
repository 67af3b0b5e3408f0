package actor

import (
	"context"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// mailboxBytes is how much a driver may be ahead of the store before it waits,
// and so about what is committed and shown at once: less than an attachment's
// tail holds, so that one that is a batch behind need not page the ledger.
const mailboxBytes = 128 << 10

// itemOverhead is what an item costs beside its body, roughly.
const itemOverhead = 256

// item is one thing a driver said. Exactly one of ask, change, done and then is
// set, or none for an event.
type item struct {
	epoch  uint64
	event  session.Event
	facts  ingest.Facts
	ask    *ask.Request
	gone   <-chan struct{} // closed when the driver no longer waits for ask
	change *session.InfoChange
	done   *finished
	then   func(error) // runs when all that was said before is committed
}

// finished reports that a driver's Prompt has returned.
type finished struct {
	turn *turn
	end  session.TurnEnd
	err  error
}

func (i *item) size() int { return len(i.event.Body) + itemOverhead }

// mailbox brings work to the actor's goroutine: what people and timers want
// (control, never held up) and what the driver says, in order (bounded).
type mailbox struct {
	ready chan struct{} // holds a token while there may be something to take

	mu      sync.Mutex
	control []func()
	driver  []item
	size    int
	space   chan struct{} // closed when there is room again; nil when nobody waits
	closed  bool
}

func newMailbox() *mailbox {
	return &mailbox{ready: make(chan struct{}, 1)}
}

// post adds a piece of control work; false when the actor has ended.
func (m *mailbox) post(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.control = append(m.control, f)
	m.signal()
	return true
}

// push adds what a driver said. It waits while the driver is too far ahead,
// until over is closed or ctx ends.
func (m *mailbox) push(ctx context.Context, over <-chan struct{}, items ...item) error {
	for {
		wait, err := m.tryPush(over, items)
		if wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-over:
			return session.ErrEpochOver
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *mailbox) tryPush(over <-chan struct{}, items []item) (wait <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-over:
		return nil, session.ErrEpochOver
	default:
	}
	if m.closed {
		return nil, session.ErrEpochOver
	}
	if m.size >= mailboxBytes {
		if m.space == nil {
			m.space = make(chan struct{})
		}
		return m.space, nil
	}
	m.add(items)
	return nil, nil
}

// finish adds a driver's end, which waits for no room.
func (m *mailbox) finish(i item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.add([]item{i})
	}
}

func (m *mailbox) add(items []item) {
	for i := range items {
		m.size += items[i].size()
	}
	m.driver = append(m.driver, items...)
	m.signal()
}

func (m *mailbox) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// take hands over what has come, swapping it for the empty slices of the last
// time. With hold, what the driver said stays.
func (m *mailbox) take(control []func(), driver []item, hold bool) ([]func(), []item) {
	m.mu.Lock()
	defer m.mu.Unlock()
	control, m.control = m.control, control[:0]
	if hold {
		return control, driver[:0]
	}
	driver, m.driver = m.driver, driver[:0]
	m.size = 0
	if m.space != nil {
		close(m.space)
		m.space = nil
	}
	return control, driver
}

// close refuses everything from now on and returns the control work left.
func (m *mailbox) close() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.space != nil {
		close(m.space)
		m.space = nil
	}
	left := m.control
	m.control, m.driver = nil, nil
	return left
}
