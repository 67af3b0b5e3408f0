package secret

import (
	"maps"
	"slices"
	"strings"
)

// pieceBytes is the shortest piece of a secret that is replaced at a cut.
const pieceBytes = 8

// span is a part of a text, by byte offsets.
type span struct{ start, end int }

// needle is what is looked for: the first or last bytes of a form, from which
// the match is grown.
type needle struct {
	text string
	form string
	tail bool // text is the end of form
}

// matcher finds many strings at once by blocks of two bytes (Wu and Manber): a
// block that ends no needle lets it skip ahead, so most of a text is not looked
// at. It does not change once made.
type matcher struct {
	width   int              // bytes of each needle that the tables cover
	shift   [tableSize]uint8 // how far a block lets the window move
	needles [][]needle       // by the hash of the last block within width
}

const tableSize = 1 << 12

func hashBlock(a, b byte) int { return (int(a)<<4 ^ int(b)) & (tableSize - 1) }

func newMatcher(forms map[string]bool) *matcher {
	var all []needle
	m := &matcher{width: pieceBytes, needles: make([][]needle, tableSize)}
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		n := min(len(form), pieceBytes)
		m.width = min(m.width, n)
		all = append(all, needle{text: form[:n], form: form})
		if len(form) > n {
			all = append(all, needle{text: form[len(form)-n:], form: form, tail: true})
		}
	}
	for i := range m.shift {
		m.shift[i] = uint8(m.width - 1)
	}
	for _, n := range all {
		for end := 2; end <= m.width; end++ {
			h := hashBlock(n.text[end-2], n.text[end-1])
			m.shift[h] = min(m.shift[h], uint8(m.width-end))
		}
		h := hashBlock(n.text[m.width-2], n.text[m.width-1])
		m.needles[h] = append(m.needles[h], n)
	}
	return m
}

// find returns where secrets and pieces of them are; the spans may overlap.
func (m *matcher) find(text string) []span {
	var found []span
	for end := m.next(text, m.width); end <= len(text); end = m.next(text, end+1) {
		for _, n := range m.at(text, end) {
			if s, ok := n.grow(text, end-m.width); ok {
				found = append(found, s)
			}
		}
	}
	return found
}

// touches reports whether any needle is in text.
func (m *matcher) touches(text string) bool {
	for end := m.next(text, m.width); end <= len(text); end = m.next(text, end+1) {
		for _, n := range m.at(text, end) {
			if strings.HasPrefix(text[end-m.width:], n.text) {
				return true
			}
		}
	}
	return false
}

// next returns the first end of a window, from end on, that needles may be in.
func (m *matcher) next(text string, end int) int {
	for end <= len(text) {
		s := m.shift[hashBlock(text[end-2], text[end-1])]
		if s == 0 {
			break
		}
		end += int(s)
	}
	return end
}

// at returns the needles that may be in the window that ends at end.
func (m *matcher) at(text string, end int) []needle {
	return m.needles[hashBlock(text[end-2], text[end-1])]
}

// grow returns the secret, or the piece of one, whose needle begins at start.
func (n needle) grow(text string, start int) (span, bool) {
	if !strings.HasPrefix(text[start:], n.text) {
		return span{}, false
	}
	if !n.tail {
		l := commonPrefix(text[start:], n.form)
		s := span{start, start + l}
		return s, l == len(n.form) || l >= pieceBytes && cutAfter(text[s.end:])
	}
	end := start + len(n.text)
	s := span{end - commonSuffix(text[:end], n.form), end}
	return s, s.end-s.start < len(n.form) && cutBefore(text[:s.start])
}

// ellipsis stands where text was cut short.
const ellipsis = "…"

// cutAfter reports whether what follows a piece may have been cut off.
func cutAfter(rest string) bool {
	return rest == "" || rest[0] == '\n' || rest[0] == '\r' || strings.HasPrefix(rest, ellipsis)
}

// cutBefore reports whether what came before a piece may have been cut off.
func cutBefore(before string) bool {
	return before == "" || before[len(before)-1] == '\n' || strings.HasSuffix(before, ellipsis)
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
