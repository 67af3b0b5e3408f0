package acp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// readAhead is the size of the line reader's buffer. Most messages fit, and
	// then cost one allocation of their exact size.
	readAhead = 64 << 10
	// headBytes is how much is kept of a line that is over the limit.
	headBytes = 1 << 10
)

// space is the white space of JSON.
const space = " \t\r\n"

// byteOrderMark may precede the first line of a stream.
var byteOrderMark = []byte("\xef\xbb\xbf")

// Stdio carries messages over two byte streams, one message a line: the stdio
// transport of ACP. Lines are split on the byte 0x0A; CRLF, blank lines, a byte
// order mark at the start and a last line without its end are accepted, and
// never written.
type Stdio struct {
	// SkipNoise, when set, takes every line that cannot be a JSON object, and
	// the line is skipped: many agents print banners on their stdout. It is
	// called by ReadMessage and must not keep the line, of which it gets the
	// beginning when the line is over the limit. Set it before the first read.
	SkipNoise func(line []byte)

	in      *bufio.Reader
	started bool // the first line was read
	max     int64

	out     io.Writer
	writing chan struct{} // holds one token while a message is written
	lines   []byte        // the messages being written, with their line ends
	broken  error         // of a failed write, after which the stream is torn

	streams  []any // closed by Close, in this order
	close    sync.Once
	closed   chan struct{}
	closeErr error
}

// NewStdio returns a connection that reads lines of at most maxBytes, without
// the line end, from r and writes to w; zero or less means
// DefaultMaxMessageBytes. Close closes w and
// then r if they are io.Closers. Closing interrupts a blocked read or write only
// where the system can do that: on pipes and sockets the process has opened
// itself, not always on an inherited stdin.
func NewStdio(r io.Reader, w io.Writer, maxBytes int64) *Stdio {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxMessageBytes
	}
	return &Stdio{
		in:      bufio.NewReaderSize(r, readAhead),
		max:     maxBytes,
		out:     w,
		writing: make(chan struct{}, 1),
		streams: []any{w, r},
		closed:  make(chan struct{}),
	}
}

// ReadMessage returns the next line that is not blank. See MessageConn. ctx
// does not interrupt it; Close does, where the stream allows.
func (s *Stdio) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := s.readLine()
		switch {
		case err != nil:
			if err = s.skipNoise(err); err != nil {
				return nil, err
			}
		case len(line) == 0:
		case s.isNoise(line):
			s.SkipNoise(line)
		default:
			return line, nil
		}
	}
}

// skipNoise returns nil when err is about a line that is noise, too.
func (s *Stdio) skipNoise(err error) error {
	var tooLarge *MessageTooLargeError
	if !errors.As(err, &tooLarge) || !s.isNoise(tooLarge.Head) {
		return s.streamError(err)
	}
	s.SkipNoise(tooLarge.Head)
	return nil
}

func (s *Stdio) isNoise(line []byte) bool {
	line = bytes.TrimLeft(line, space)
	return s.SkipNoise != nil && len(line) > 0 && line[0] != '{'
}

// streamError is the error for a failed read or write: after Close it is ErrClosed,
// whatever the stream says about being closed.
func (s *Stdio) streamError(err error) error {
	select {
	case <-s.closed:
		return ErrClosed
	default:
		return err
	}
}

// readLine returns the next line without its white space, in memory of its own.
// A line over the limit is read to its end without being kept.
func (s *Stdio) readLine() ([]byte, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		if !s.started {
			part = bytes.TrimPrefix(part, byteOrderMark)
			s.started = true
		}
		if int64(len(line)+len(part)) > s.max+int64(len("\r\n")) {
			return nil, s.skipLine(append(line, part[:min(len(part), headBytes)]...), err)
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == nil, err == io.EOF && len(line) > 0:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if int64(len(line)) > s.max {
				return nil, s.skipLine(line, nil)
			}
			return bytes.Trim(line, space), nil
		default:
			return nil, err
		}
	}
}

// skipLine discards the rest of a line that is over the limit and begins with
// line. err is that of the last read; the end of the stream ends the line, too.
func (s *Stdio) skipLine(line []byte, err error) error {
	head := bytes.Clone(bytes.Trim(line[:min(len(line), headBytes)], space))
	for err == bufio.ErrBufferFull {
		_, err = s.in.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	return &MessageTooLargeError{Limit: s.max, Head: head}
}

// WriteMessage writes msg as one line, with one Write. See MessageConn. ctx
// bounds the wait for other writers, not the write itself.
func (s *Stdio) WriteMessage(ctx context.Context, msg jsontext.Value) error {
	return s.WriteMessages(ctx, []jsontext.Value{msg})
}

// WriteMessages writes each message as one line, all with one Write. See
// BatchWriter.
func (s *Stdio) WriteMessages(ctx context.Context, msgs []jsontext.Value) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	if s.broken != nil {
		return s.broken
	}
	lines := s.lines[:0]
	for _, msg := range msgs {
		var err error
		if lines, err = appendLine(lines, msg); err != nil {
			return err
		}
	}
	if cap(lines) <= readAhead {
		s.lines = lines
	}
	if _, err := s.out.Write(lines); err != nil {
		s.broken = s.streamError(err)
		return s.broken
	}
	return nil
}

// acquire takes the token of the writer.
func (s *Stdio) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closed:
		return ErrClosed
	default:
	}
	select {
	case s.writing <- struct{}{}: // the usual case, without the cost of a wide select
		return nil
	default:
	}
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-s.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// appendLine appends msg and a line feed. JSON needs no line breaks, so a msg
// that has some is written without its white space.
func appendLine(line []byte, msg jsontext.Value) ([]byte, error) {
	if bytes.IndexByte(msg, '\n') >= 0 || bytes.IndexByte(msg, '\r') >= 0 {
		msg = msg.Clone()
		if err := msg.Compact(); err != nil {
			return nil, fmt.Errorf("%w: it has a line break where JSON cannot have one", ErrInvalidMessage)
		}
	}
	line = append(line, msg...)
	return append(line, '\n'), nil
}

// Close closes both streams. It may be called more than once.
func (s *Stdio) Close() error {
	s.close.Do(func() {
		close(s.closed)
		for _, stream := range s.streams {
			if c, ok := stream.(io.Closer); ok {
				s.closeErr = errors.Join(s.closeErr, c.Close())
			}
		}
	})
	return s.closeErr
}
