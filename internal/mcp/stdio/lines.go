package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	// readSize is the buffer between the pipe and a line.
	readSize = 64 << 10
	// edgeSize is how much of an over-long line's two ends is kept.
	edgeSize = 512
	// keepSize is the largest line buffer kept for the next line.
	keepSize = 1 << 20
)

// line is one line of a server's output. Of a line longer than allowed only the
// ends are there.
type line struct {
	text       []byte // without the line's end; valid until the next call
	long       bool
	head, tail []byte // of a long line
}

// lines reads lines of bounded length. Whatever arrives, it holds no more than
// its bound.
type lines struct {
	r   *bufio.Reader
	max int
	buf []byte
}

func newLines(r io.Reader, max int) *lines {
	return &lines{r: bufio.NewReaderSize(r, readSize), max: max}
}

// next returns the next line. The last one needs no line end. The error is
// io.EOF when there are no more.
func (l *lines) next() (line, error) {
	if cap(l.buf) > keepSize {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > l.max+len("\r\n") {
			return l.skip(part, err)
		}
		l.buf = append(l.buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)) {
			return line{}, err
		}
		return l.whole(trimEnd(l.buf)), nil
	}
}

// whole is a line that was read to its end; the bound is its text's.
func (l *lines) whole(text []byte) line {
	if len(text) <= l.max {
		return line{text: text}
	}
	edge := min(len(text), edgeSize)
	return line{long: true, head: bytes.Clone(text[:edge]), tail: bytes.Clone(text[len(text)-edge:])}
}

// skip reads an over-long line to its end and keeps its ends. part is what was
// read last.
func (l *lines) skip(part []byte, err error) (line, error) {
	long := line{long: true}
	long.head = append(long.head, l.buf[:min(len(l.buf), edgeSize)]...)
	if missing := edgeSize - len(long.head); missing > 0 {
		long.head = append(long.head, part[:min(len(part), missing)]...)
	}
	long.head = trimEnd(long.head)
	l.buf = nil
	for {
		long.tail = append(long.tail, part[max(0, len(part)-edgeSize):]...)
		long.tail = long.tail[max(0, len(long.tail)-edgeSize):]
		if err == nil || errors.Is(err, io.EOF) {
			long.tail = trimEnd(long.tail)
			return long, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line{}, err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// trimEnd drops the line end, and the carriage return some systems put before
// it.
func trimEnd(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	if n := len(b); n > 0 && b[n-1] == '\r' {
		b = b[:n-1]
	}
	return b
}
