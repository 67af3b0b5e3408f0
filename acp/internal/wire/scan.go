package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// The scanners work on JSON that jsontext has accepted. They stay within
// bounds on anything else, and then report end < 0.

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanString returns the index after the string that starts at b[i].
func scanString(b []byte, i int) int {
	// Names and tags are short: a loop beats a call.
	const short = 24
	j := i + 1
	for end := min(j+short, len(b)); j < end; j++ {
		switch b[j] {
		case '"':
			return j + 1
		case '\\':
			j++
		}
	}
	return scanLongString(b, j)
}

// scanLongString returns the index after the string that b[i] is inside.
func scanLongString(b []byte, i int) int {
	for j := i; j < len(b); {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return -1
		}
		j += n + 1
		if !escaped(b[i : j-1]) {
			return j
		}
	}
	return -1
}

// escaped reports whether the byte that follows b is escaped.
func escaped(b []byte) bool {
	n := len(b)
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (len(b)-n)%2 == 1
}

// scanValue returns the index after the value that starts at b[i].
func scanValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return scanString(b, i)
	case '{', '[':
		return scanNested(b, i)
	}
	start := i
	for i < len(b) && !delimits(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func delimits(c byte) bool {
	switch c {
	case ',', ']', '}', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// scanNested returns the index after the object or array that starts at b[i].
func scanNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = scanString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// unquote returns the text of the quoted string v, sharing v's bytes when
// nothing in it is escaped.
func unquote(v []byte) ([]byte, error) {
	if s := v[1 : len(v)-1]; bytes.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	return jsontext.AppendUnquote[[]byte](nil, v)
}
