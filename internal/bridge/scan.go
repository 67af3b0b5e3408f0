package bridge

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a part of a message.
type span struct{ from, to int }

func (s span) of(b []byte) []byte { return b[s.from:s.to] }
func (s span) isZero() bool       { return s.to == 0 }

// message says where in a JSON-RPC message the parts are that a bridge looks at.
// The zero value is that of bytes that are no message: they pass as they are.
type message struct {
	id, method, params, result, failed span
}

// scan finds the parts of a message without decoding anything. It checks no
// more of the JSON than it needs.
func scan(b []byte) message {
	var m message
	whole := object(b)
	for name, value := range members(b, whole) {
		switch string(name) {
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.failed = value
		}
	}
	return m
}

// object is the span of a message that is one object, with the space around it
// left out.
func object(b []byte) span {
	from := skipSpace(b, 0)
	to := len(bytes.TrimRight(b, " \t\r\n"))
	if from >= to || b[from] != '{' || b[to-1] != '}' {
		return span{}
	}
	return span{from, to}
}

// find follows member names from an object; the zero span when one is missing.
func find(b []byte, at span, path ...string) span {
	for _, want := range path {
		next := span{}
		for name, value := range members(b, at) {
			if string(name) == want {
				next = value
			}
		}
		if next.isZero() {
			return span{}
		}
		at = next
	}
	return at
}

// members yields the members of the object at a span, names without quotes. It
// ends early where the text is no object.
func members(b []byte, at span) iter.Seq2[[]byte, span] {
	return func(yield func([]byte, span) bool) {
		if at.isZero() || b[at.from] != '{' {
			return
		}
		for i := skipSpace(b, at.from+1); i < at.to && b[i] == '"'; {
			end := skipValue(b, i)
			name := span{i, end}
			if i = skipSpace(b, end); i >= at.to || b[i] != ':' {
				return
			}
			i = skipSpace(b, i+1)
			if end = skipValue(b, i); end <= i || end > at.to {
				return
			}
			if !yield(plain(name.of(b)), span{i, end}) {
				return
			}
			if i = skipSpace(b, end); i >= at.to || b[i] != ',' {
				return
			}
			i = skipSpace(b, i+1)
		}
	}
}

// items yields the items of the array at a span.
func items(b []byte, at span) iter.Seq[span] {
	return func(yield func(span) bool) {
		if at.isZero() || b[at.from] != '[' {
			return
		}
		for i := skipSpace(b, at.from+1); i < at.to && b[i] != ']'; {
			end := skipValue(b, i)
			if end <= i || end > at.to || !yield(span{i, end}) {
				return
			}
			if i = skipSpace(b, end); i >= at.to || b[i] != ',' {
				return
			}
			i = skipSpace(b, i+1)
		}
	}
}

// plain is a quoted string without its quotes and escapes.
func plain(quoted []byte) []byte {
	if len(quoted) < 2 || quoted[0] != '"' {
		return nil
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil
	}
	return text
}

// text is the string at a span, "" where there is none.
func text(b []byte, at span) string {
	if at.isZero() {
		return ""
	}
	return string(plain(at.of(b)))
}

// number is the unsigned number at a span, 0 where there is none.
func number(b []byte, at span) uint64 {
	n, err := strconv.ParseUint(string(at.of(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns where the value that begins at i ends.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return i
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// skipString jumps from quote to quote, since strings are the bulk of a message.
func skipString(b []byte, i int) int {
	start := i + 1
	for i = start; i < len(b); {
		next := bytes.IndexByte(b[i:], '"')
		if next < 0 {
			return len(b)
		}
		i += next
		slashes := 0
		for j := i - 1; j >= start && b[j] == '\\'; j-- {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
		start = i
	}
	return i
}
