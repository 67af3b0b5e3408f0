package streamable

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// item is a message on its way out.
type item struct {
	head
	msg jsontext.Value
}

// WriteMessage sends msg to the stream it belongs to. See acp.MessageConn.
func (c *conn) WriteMessage(ctx context.Context, msg jsontext.Value) error {
	return c.WriteMessages(ctx, []jsontext.Value{msg})
}

// WriteMessages sends each of msgs to the stream it belongs to. Neighbours that
// go to one stream stay neighbours. See acp.BatchWriter.
func (c *conn) WriteMessages(ctx context.Context, msgs []jsontext.Value) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items := make([]item, len(msgs))
	for i, msg := range msgs {
		h, err := c.scan.scan(msg)
		if err == nil {
			msg, err = oneLine(msg)
		}
		if err != nil {
			return acp.ErrInvalidMessage
		}
		items[i] = item{h, msg}
	}
	for len(items) > 0 {
		n, err := c.writeRun(ctx, items)
		if err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// writeRun sends the first of items and those after it that go to the same
// stream. It returns how many these are.
func (c *conn) writeRun(ctx context.Context, items []item) (int, error) {
	first := items[0]
	if c.isFirst(first) {
		c.first <- first.msg
		return 1, nil
	}
	name, load := c.resolve(first)
	if load != "" {
		if err := c.waitFlushed(ctx, load); err != nil {
			return 0, err
		}
	}
	n := 1
	for n < len(items) && items[n].method != "" && items[n].session == name {
		c.resolve(items[n])
		n++
	}
	return n, c.enqueue(ctx, name, items[:n])
}

// isFirst reports whether it is the answer to initialize, which goes back with the
// request that opened the connection.
func (c *conn) isFirst(it item) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started || !it.response || it.id != c.initID {
		return false
	}
	c.started = true
	return true
}

// resolve returns the stream a message goes to, and the session whose stream is
// flushed first, if any. It notes who may answer an agent's request.
func (c *conn) resolve(it item) (name, load string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if it.method != "" {
		if it.id != "" {
			c.asked[it.id] = it.session
		}
		return it.session, ""
	}
	r := c.routes[it.id]
	if r == nil {
		return onConnection, ""
	}
	if r.count--; r.count == 0 {
		delete(c.routes, it.id)
	}
	return r.stream, r.load
}

// enqueue gives items to the stream called name, when there is room for them.
func (c *conn) enqueue(ctx context.Context, name string, items []item) error {
	var size int64
	for _, it := range items {
		size += cost(it.msg)
	}
	return c.await(ctx, func() bool {
		st := c.stream(name)
		if !c.room(st, size) {
			return false
		}
		for _, it := range items {
			st.queue = append(st.queue, it.msg)
		}
		st.put += int64(len(items))
		st.bytes += size
		c.buffered += size
		st.wake()
		return true
	})
}

// cost is what a message counts while it waits: a flood of tiny ones is
// bounded as well.
func cost(msg jsontext.Value) int64 {
	const overhead = 64
	return int64(len(msg)) + overhead
}

// room reports whether size bytes more may wait for st. Into what is empty
// everything fits.
func (c *conn) room(st *stream, size int64) bool {
	if st.open && st.bytes > 0 && st.bytes+size > openBytes {
		return false
	}
	return c.buffered == 0 || c.buffered+size <= c.opts.MaxBuffered
}

// stream returns the stream called name. The caller holds the lock.
func (c *conn) stream(name string) *stream {
	st := c.streams[name]
	if st == nil {
		st = newStream()
		c.streams[name] = st
	}
	return st
}

// waitFlushed waits until an open stream has been given what was queued for it
// so far. A stream that is not open, or ends, holds nobody up.
func (c *conn) waitFlushed(ctx context.Context, name string) error {
	c.mu.Lock()
	st := c.streams[name]
	if st == nil {
		c.mu.Unlock()
		return nil
	}
	target := st.put
	c.mu.Unlock()
	return c.await(ctx, func() bool {
		return !st.open || st.done >= target
	})
}

// waitRoom waits until more may be sent to the client. Requests wait here, so
// that a client that does not read cannot make the agent produce more.
func (c *conn) waitRoom(ctx context.Context) error {
	return c.await(ctx, func() bool { return c.buffered < c.opts.MaxBuffered })
}

// await waits until try, which is called with the lock held, succeeds. When no
// client takes anything for the stall time, the connection ends.
func (c *conn) await(ctx context.Context, try func() bool) error {
	for {
		c.mu.Lock()
		if c.ended {
			err := c.err
			c.mu.Unlock()
			return closedError(err)
		}
		if try() {
			c.mu.Unlock()
			return nil
		}
		progress := c.progress
		c.mu.Unlock()
		if err := c.awaitProgress(ctx, progress); err != nil {
			return err
		}
	}
}

func (c *conn) awaitProgress(ctx context.Context, progress <-chan struct{}) error {
	// An open stream that is stuck ends first, and the connection lives on.
	stalled := time.NewTimer(c.opts.Stall + c.opts.Stall/4)
	defer stalled.Stop()
	select {
	case <-progress:
	case <-c.closed:
	case <-ctx.Done():
		return ctx.Err()
	case <-stalled.C:
		c.end(errNotRead)
	}
	return nil
}
