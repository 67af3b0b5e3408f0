package streamable

import (
	"bytes"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// openBytes is what may wait for a stream that is open. More would only sit
	// in memory while its client is slow.
	openBytes = 256 << 10
	// eventBytes is what is written before a stream is flushed.
	eventBytes = 64 << 10
	// chunkBytes is the step in which a slow client's progress is seen.
	chunkBytes = 16 << 10
)

// stream is what waits for one event stream. The lock of its conn guards it.
type stream struct {
	queue  []jsontext.Value
	bytes  int64         // of what was queued and is not flushed
	put    int64         // messages that were ever queued
	done   int64         // messages that were flushed, or lost with the stream
	open   bool          // a client receives it
	waking chan struct{} // holds one token when there is something new
}

func newStream() *stream { return &stream{waking: make(chan struct{}, 1)} }

// wake tells the one who writes the stream that something changed.
func (st *stream) wake() {
	select {
	case st.waking <- struct{}{}:
	default:
	}
}

// events writes one event stream to a client.
type events struct {
	w         http.ResponseWriter
	control   *http.ResponseController
	stall     time.Duration
	keepalive time.Duration
	moved     func() // called when the client has taken something
	buf       []byte
}

// begin sends the header, so that the client knows that the stream is open.
func (e *events) begin() error {
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // of nginx: pass each event on at once
	e.w.WriteHeader(http.StatusOK)
	return e.control.Flush()
}

// add adds a message as one event.
func (e *events) add(msg jsontext.Value) {
	e.buf = append(append(append(e.buf, "data: "...), msg...), "\n\n"...)
}

// flush writes what was added and gives it to the client. A client that takes
// nothing for the stall time loses the stream.
func (e *events) flush() error {
	defer func() {
		if e.buf = e.buf[:0]; cap(e.buf) > eventBytes {
			e.buf = nil
		}
	}()
	for rest := e.buf; len(rest) > 0; {
		chunk := rest[:min(len(rest), chunkBytes)]
		rest = rest[len(chunk):]
		_ = e.control.SetWriteDeadline(time.Now().Add(e.stall))
		if _, err := e.w.Write(chunk); err != nil {
			return err
		}
		e.moved()
	}
	if err := e.control.Flush(); err != nil {
		return err
	}
	// A deadline that passes while nothing is written would end an HTTP/2 stream.
	_ = e.control.SetWriteDeadline(time.Time{})
	return nil
}

// run writes what st is given until the client leaves or the connection ends;
// then it still writes what there is.
func (e *events) run(c *conn, st *stream, left <-chan struct{}) error {
	if err := e.begin(); err != nil {
		return err
	}
	silent := time.NewTimer(e.keepalive)
	defer silent.Stop()
	for {
		n, size := c.take(st, e)
		if n > 0 {
			err := e.flush()
			c.taken(st, n, size)
			if err != nil {
				return err
			}
			silent.Reset(e.keepalive)
			continue
		}
		select {
		case <-st.waking:
		case <-silent.C:
			e.buf = append(e.buf, ": keepalive\n\n"...)
			if err := e.flush(); err != nil {
				return err
			}
			silent.Reset(e.keepalive)
		case <-left:
			return nil
		case <-c.closed:
			if c.empty(st) {
				return nil
			}
		}
	}
}

// oneLine returns msg in a form without line breaks, which an event cannot have.
// It is a copy, since what waits outlives the write.
func oneLine(msg jsontext.Value) (jsontext.Value, error) {
	msg = bytes.Clone(msg)
	if bytes.ContainsAny(msg, "\r\n") {
		err := msg.Compact()
		return msg, err
	}
	return msg, nil
}
