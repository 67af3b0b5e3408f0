package streamable

import (
	"errors"
	"io"

	"github.com/grapnel-ai/grapnel/acp"
)

// closedError is the error of a write after the end.
func closedError(err error) error {
	if err == io.EOF || errors.Is(err, acp.ErrClosed) {
		return acp.ErrClosed
	}
	return err
}

// attach makes the caller the receiver of a stream. It returns nil when the
// stream has one, or the connection has ended.
func (c *conn) attach(name string) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.stream(name)
	if c.ended || st.open {
		return nil
	}
	st.open = true
	st.wake()
	return st
}

// detach ends that. A stream for which nothing waits is forgotten.
func (c *conn) detach(name string, st *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.open = false
	if st.bytes == 0 {
		delete(c.streams, name)
	}
	c.moved()
}

// take adds what waits for st to e, up to the size of one write. It returns how
// many messages these are, and what they count.
func (c *conn) take(st *stream, e *events) (n int, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(st.queue) && len(e.buf) < eventBytes {
		e.add(st.queue[n])
		size += cost(st.queue[n])
		n++
	}
	clear(st.queue[:n])
	if st.queue = st.queue[n:]; len(st.queue) == 0 {
		st.queue = nil
	}
	return n, size
}

// taken notes that what was taken has gone to the client, or was lost on the way.
func (c *conn) taken(st *stream, n int, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st.done += int64(n)
	st.bytes -= size
	c.buffered -= size
	c.moved()
}

// progressed notes that a client has taken something, perhaps less than a message.
func (c *conn) progressed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved()
}

// moved wakes who waits for progress. The caller holds the lock.
func (c *conn) moved() {
	close(c.progress)
	c.progress = make(chan struct{})
}

func (c *conn) empty(st *stream) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(st.queue) == 0
}
