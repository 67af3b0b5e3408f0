// Package sse reads server-sent events (WHATWG HTML, section 9.2) from a
// model provider's answer.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxEvent is the longest event in bytes that Next accepts. Encrypted reasoning
// and whole tool inputs come as one event, so it is generous; without a bound a
// broken server could fill the memory.
const MaxEvent = 64 << 20

// ErrTooLong reports an event longer than MaxEvent.
var ErrTooLong = fmt.Errorf("server-sent event is longer than %d bytes", MaxEvent)

// bufferSize is that of what is read at once: a daemon has a reader for each turn
// that runs, and nearly every line is short.
const bufferSize = 4 << 10

// Event is one event. Its bytes are valid until the next call of Next.
type Event struct {
	Name []byte // the event field, empty when there was none
	Data []byte // the data lines joined by newlines
}

// Reader reads events from a stream. It is for one goroutine.
type Reader struct {
	br   *bufio.Reader
	name []byte
	data []byte
	line []byte // a line longer than the buffer of br, put together
	any  bool   // the event has a data line
	bom  bool   // the start of the stream has been looked at
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{br: bufio.NewReaderSize(r, bufferSize)}
}

// Next returns the next event that carries data. It returns io.EOF at the end
// of the stream; data that was not followed by a blank line is still given out
// first, because some servers leave the last one off.
func (r *Reader) Next() (Event, error) {
	r.name, r.data, r.any = r.name[:0], r.data[:0], false
	for {
		line, err := r.readLine()
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				return Event{}, err
			}
		}
		ended := err != nil
		if ended && (!errors.Is(err, io.EOF) || !r.any) {
			return Event{}, err
		}
		if len(line) == 0 || ended {
			if r.any {
				return Event{Name: r.name, Data: r.data}, nil
			}
			r.name = r.name[:0]
		}
	}
}

func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if len(r.data)+len(value) > MaxEvent {
			return ErrTooLong
		}
		if r.any {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.any = true
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return nil
}

// readLine returns a line without its ending, which is LF or CRLF. At the end
// of the stream it returns what is left beside the error.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.readLong(line)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if !r.bom {
		r.bom = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, err
}

func (r *Reader) readLong(start []byte) ([]byte, error) {
	r.line = append(r.line[:0], start...)
	for {
		part, err := r.br.ReadSlice('\n')
		r.line = append(r.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.line, err
		}
		if len(r.line) > MaxEvent {
			return nil, ErrTooLong
		}
	}
}
