package printable

import (
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// Clip bounds s to its first n bytes, cut between characters and followed by an
// ellipsis where anything is left out. What is no UTF-8 becomes U+FFFD.
func Clip(s string, n int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= n {
		return s
	}
	return Head(s, n) + ellipsis
}

// Head is the longest start of valid UTF-8 text that fits n bytes and ends
// between characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Short bounds s to n characters, at least one, of which the last is an ellipsis
// where anything is left out: for the cells of a table.
func Short(s string, n int) string {
	if len(s) <= n { // no more characters than bytes
		return s
	}
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + ellipsis
	}
	return s
}
