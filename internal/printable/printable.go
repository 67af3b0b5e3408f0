// Package printable makes text that came from models, clients and files safe to
// show in a terminal: no escape sequence, control character or bidirectional
// override of theirs reaches it. It also cuts such text to a length.
package printable

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text removes escape sequences, control characters but newline and tab, and
// bidirectional overrides. What is no UTF-8 becomes U+FFFD.
func Text(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		if n := sequence(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		if !harmful(r) {
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// Line is Text on one line: runs of white space become one space.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Visible writes what Text removes, and what takes no room, as its number, such
// as <U+202E>: who has to agree to a text must see all of it.
func Visible(s string) string {
	if clean(s) && !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if harmful(r) || unseen(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// unseen reports characters without width that no writing needs: soft hyphen,
// zero width space, word joiner and its kin, byte order mark, tags.
func unseen(r rune) bool {
	return r == 0xad || r == 0x200b || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}

// JSON escapes, in JSON text, the characters Text removes. The value stays the
// same.
func JSON(text []byte) []byte {
	if clean(string(text)) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		if harmful(r) && r != '\r' {
			out = fmt.Appendf(out, `\u%04x`, r) // all of them are below U+10000
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return !strings.ContainsFunc(s[i:], harmful) && utf8.ValidString(s[i:])
		}
	}
	return true
}

// harmful reports control characters (C0, DEL, C1) and the characters that
// reorder what stands around them.
func harmful(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates
		return true
	}
	return r == 0x2028 || r == 0x2029 // line ends to some terminals
}

const (
	esc = "\x1b"
	csi = "\u009b" // the one-character forms of C1
	osc = "\u009d"
	dcs = "\u0090"
)

// maxSequence is where a sequence is taken for text that only begins like one.
const maxSequence = 4 << 10

// sequence is the length of the escape sequence s begins with (ECMA-48), 0 for
// none. Of one that does not end, only the introducer goes, so that no text is
// swallowed.
func sequence(s string) int {
	switch {
	case strings.HasPrefix(s, csi):
		return control(s, len(csi))
	case strings.HasPrefix(s, osc), strings.HasPrefix(s, dcs):
		return str(s, len(osc))
	case !strings.HasPrefix(s, esc) || len(s) < 2:
		return 0
	}
	switch s[1] {
	case '[':
		return control(s, 2)
	case ']', 'P', 'X', '^', '_':
		return str(s, 2)
	}
	// ESC, intermediates, one final byte.
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		return i + 1
	}
	return i
}

// control is a control sequence: parameters, intermediates, one final byte.
func control(s string, start int) int {
	i := start
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return start
}

// str is a command string: it ends with BEL or ST.
func str(s string, start int) int {
	rest := s[start:min(len(s), start+maxSequence)]
	end := 0
	for _, terminator := range []string{"\a", esc + `\`, "\u009c"} {
		if i := strings.Index(rest, terminator); i >= 0 && (end == 0 || i+len(terminator) < end) {
			end = i + len(terminator)
		}
	}
	return start + end
}
