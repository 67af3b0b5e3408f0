package tool

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// tailRunes returns the longest end of s within n bytes that starts between runes.
func tailRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// bound keeps the head and tail of valid UTF-8 text within n bytes and says
// what is missing between them.
func bound(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := printable.Head(s, n/2), tailRunes(s, n-n/2)
	return head + gapNote(int64(len(s)-len(head)-len(tail))) + tail
}

func gapNote(missing int64) string {
	return fmt.Sprintf("\n[… %d bytes left out …]\n", missing)
}

// headTail collects output of any length in bounded memory: the first half of
// its limit and the last. It is not safe for concurrent use.
type headTail struct {
	limit int
	head  []byte
	tail  []byte // at most twice its share, cut back when it gets there
	total int64
}

func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	h.total += int64(n)
	if room := h.headShare() - len(h.head); room > 0 {
		k := min(room, len(p))
		h.head = append(h.head, p[:k]...)
		p = p[k:]
	}
	share := h.limit - h.headShare()
	if len(p) > share {
		p = p[len(p)-share:]
	}
	h.tail = append(h.tail, p...)
	if len(h.tail) > 2*share {
		h.tail = append(h.tail[:0], h.tail[len(h.tail)-share:]...)
	}
	return n, nil
}

func (h *headTail) headShare() int { return h.limit / 2 }

// String returns what was kept as valid UTF-8, never cut inside a rune.
func (h *headTail) String() string { return h.text(h.limit) }

// text is String within n bytes, plus the note on what is left out.
func (h *headTail) text(n int) string {
	head, tail := h.head, h.tail
	if h.total == int64(len(head)+len(tail)) { // nothing is lost yet
		all := slices.Concat(head, tail)
		if len(all) <= n {
			return valid(all)
		}
		head = cutHead(all, n/2)
		tail = all[len(head):]
	}
	head, tail = cutHead(head, n/2), cutTail(tail, n-n/2)
	missing := h.total - int64(len(head)+len(tail))
	return valid(head) + gapNote(missing) + valid(tail)
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// cutHead returns at most n bytes of b, not ending in a part of a rune.
func cutHead(b []byte, n int) []byte {
	b = b[:min(n, len(b))]
	return b[:len(b)-partialEnd(b)]
}

// cutTail returns at most the last n bytes of b, not starting in a rune. b may
// itself be the end of something.
func cutTail(b []byte, n int) []byte {
	b = b[max(0, len(b)-n):]
	for i := range min(len(b), utf8.UTFMax-1) {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	return b[min(len(b), utf8.UTFMax-1):]
}

// partialEnd returns how many bytes at the end of b begin a rune that is not
// complete.
func partialEnd(b []byte) int {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}
