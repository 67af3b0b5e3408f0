package ws

import (
	"context"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// WriteMessage sends msg as one text frame. See acp.MessageConn. ctx bounds the
// wait for other writers, not the write itself, which ends with the stall time.
func (c *Conn) WriteMessage(ctx context.Context, msg jsontext.Value) error {
	return c.WriteMessages(ctx, []jsontext.Value{msg})
}

// WriteMessages sends each of msgs as a text frame, with as few writes on the
// socket as their size allows. See acp.BatchWriter.
func (c *Conn) WriteMessages(ctx context.Context, msgs []jsontext.Value) error {
	total := 0
	for _, msg := range msgs {
		if !utf8.Valid(msg) {
			return acp.ErrInvalidMessage
		}
		total += len(msg) + maxHeaderBytes
	}
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	c.out.reserve(total)
	c.out.used = true
	for _, msg := range msgs {
		if err := c.out.add(opText, msg); err != nil {
			return c.writeFailed(err)
		}
	}
	if err := c.out.flush(); err != nil {
		return c.writeFailed(err)
	}
	return nil
}

// writeFailed says why a write failed, and ends the connection.
func (c *Conn) writeFailed(err error) error {
	return c.drop(&CloseError{Code: CodeLost, Reason: "the connection was lost", Err: err})
}

// acquire takes the token of the writer.
func (c *Conn) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.wire.writing <- struct{}{}: // the usual case, without the cost of a wide select
	default:
		select {
		case c.wire.writing <- struct{}{}:
		case <-c.closed:
			return c.whyEnded()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if c.wire.closing.Load() || c.isClosed() {
		c.release()
		return c.whyEnded()
	}
	return nil
}

func (c *Conn) release() { <-c.wire.writing }

// frames puts frames together for the socket.
type frames struct {
	wire   *wire
	client bool // frames of clients are masked
	buf    []byte
	used   bool // for messages, since the last trim
}

// reserve makes room for about n bytes.
func (f *frames) reserve(n int) {
	if n = min(n, chunkBytes); cap(f.buf) < n {
		f.buf = make([]byte, 0, n)
	}
}

// add adds a frame, and writes what is full.
func (f *frames) add(opcode byte, payload []byte) error {
	var mask *[4]byte
	if f.client {
		mask = newMask()
	}
	f.buf = appendHeader(f.buf, opcode, len(payload), mask)
	for at := 0; at < len(payload); {
		if len(f.buf) >= chunkBytes {
			if err := f.flush(); err != nil {
				return err
			}
		}
		begin := len(f.buf)
		f.buf = append(f.buf, payload[at:min(len(payload), at+chunkBytes-begin)]...)
		if mask != nil {
			applyMask(f.buf[begin:], mask, at)
		}
		at += len(f.buf) - begin
	}
	return nil
}

// flush writes what is there.
func (f *frames) flush() error {
	err := f.wire.put(f.buf)
	f.buf = f.buf[:0]
	return err
}

// trim gives the memory of a burst back when nothing was written since the last
// trim, for connections that are idle most of the time.
func (f *frames) trim() {
	if !f.used {
		f.buf = nil
	}
	f.used = false
}
