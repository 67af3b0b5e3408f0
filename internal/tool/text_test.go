package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeadTail(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  int
		writes []string
		want   string
	}{
		"empty":            {8, nil, ""},
		"fits":             {8, []string{"abc", "def"}, "abcdef"},
		"just fits":        {8, []string{"abcdefgh"}, "abcdefgh"},
		"one over":         {8, []string{"abcdefghi"}, "abcd\n[… 1 bytes left out …]\nfghi"},
		"in small pieces":  {4, strings.Split("abcdefghijklmnop", ""), "ab\n[… 12 bytes left out …]\nop"},
		"runes at the cut": {10, []string{"你你你你你"}, "你\n[… 9 bytes left out …]\n你"},
		"rune in pieces":   {64, []string{"a\xe4", "\xbd", "\xa0b"}, "a你b"},
		"rune over share":  {8, []string{"abc你d"}, "abc你d"},
		"not UTF-8":        {64, []string{"a\xffb"}, "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			h := headTail{limit: tc.limit}
			for _, w := range tc.writes {
				if n, err := h.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if got := h.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestBound(t *testing.T) {
	if got := bound("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
	if got, want := bound("你好你好你好", 8), "你\n[… 12 bytes left out …]\n好"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFenced(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "```\n```",
		"a":                      "```\na\n```",
		"a\n```\nb\n":            "````\na\n```\nb\n````",
		strings.Repeat("`", 100): strings.Repeat("`", 100),
	} {
		if got := fenced(text); got != want {
			t.Errorf("fenced(%q) = %q, want %q", text, got, want)
		}
	}
}

// Whatever the pieces, what is kept is a head and a tail of the whole, valid
// UTF-8 if the whole is, and within the limit.
func FuzzHeadTail(f *testing.F) {
	f.Add("你好, world 🎉", uint16(7), uint8(3))
	f.Add(strings.Repeat("é", 100), uint16(31), uint8(1))
	f.Add("\xf0\x9f", uint16(2), uint8(1))
	f.Fuzz(func(t *testing.T, text string, limit uint16, piece uint8) {
		h := headTail{limit: int(limit)}
		for rest := text; rest != ""; {
			n := min(int(piece)+1, len(rest))
			_, _ = h.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := h.String()
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		if !utf8.ValidString(text) {
			return
		}
		if len(text) <= int(limit) {
			if got != text {
				t.Fatalf("got %q, want all of %q", got, text)
			}
			return
		}
		if !headAndTail(text, got, int(limit)) {
			t.Fatalf("limit %d: %q is not a head and a tail of %q", limit, got, text)
		}
	})
}

// headAndTail tries every place where text may have been cut: at a rune, so
// less than four bytes from the middle of the limit on either side.
func headAndTail(text, got string, limit int) bool {
	for head := max(0, limit/2-3); head <= limit/2; head++ {
		for tail := max(0, limit-limit/2-3); tail <= limit-limit/2; tail++ {
			missing := len(text) - head - tail
			if got == text[:head]+gapNote(int64(missing))+text[len(text)-tail:] {
				return true
			}
		}
	}
	return false
}

func FuzzBound(f *testing.F) {
	f.Add("你好你好", 5)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 || n > 1<<20 || !utf8.ValidString(s) {
			return
		}
		if got := bound(s, n); !utf8.ValidString(got) || len(got) > max(n, 0)+64 && len(s) > n {
			t.Fatalf("bound(%q, %d) = %q", s, n, got)
		}
	})
}
