package lineedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecoder(t *testing.T) {
	for name, c := range map[string]struct {
		chunks []string
		want   []Key
	}{
		"text":              {[]string{"ab"}, []Key{{Text: "ab"}}},
		"wide text in bits": {[]string{"\xe4\xbd", "\xa0"}, []Key{{Text: "你"}}},
		"not UTF-8":         {[]string{"a\xffb"}, []Key{{Text: "a\ufffdb"}}},
		"enter":             {[]string{"a\r"}, []Key{{Text: "a"}, {Code: Enter}}},
		"arrows":            {[]string{"\x1b[A\x1bOB\x1b[C\x1b[D"}, []Key{{Code: Up}, {Code: Down}, {Code: Right}, {Code: Left}}},
		"arrow in bits":     {[]string{"\x1b", "[", "A"}, []Key{{Code: Up}}},
		"words":             {[]string{"\x1b[1;5C\x1b[1;3D\x1bb\x1bf"}, []Key{{Code: WordRight}, {Code: WordLeft}, {Code: WordLeft}, {Code: WordRight}}},
		"home, end, delete": {[]string{"\x1b[1~\x1b[4~\x1b[3~\x1b[H\x1b[F"}, []Key{{Code: Home}, {Code: End}, {Code: Delete}, {Code: Home}, {Code: End}}},
		"control":           {[]string{"\x03\x04\x0b\x15\x17\x19\x0c\x7f\t"}, []Key{{Code: Interrupt}, {Code: EOF}, {Code: KillEnd}, {Code: KillLine}, {Code: KillWord}, {Code: Yank}, {Code: Clear}, {Code: Backspace}, {Code: Tab}}},
		"new line":          {[]string{"\x1b\r"}, []Key{{Code: Newline}}},
		"paste":             {[]string{"x\x1b[200~one\rtwo\x1b[A", " three\x1b[201~y"}, []Key{{Text: "x"}, {Code: Paste, Text: "one\rtwo\x1b[A three"}, {Text: "y"}}},
		"unknown":           {[]string{"\x1b[99~\x1bz\x1b[?1;2c\x00"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var d Decoder
			var got []Key
			for _, chunk := range c.chunks {
				got = append(got, d.Feed([]byte(chunk))...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || d.Pending() {
				t.Errorf("pending %v: %s", d.Pending(), diff)
			}
		})
	}
}

func TestEscapeIsKnownByWhatDoesNotFollow(t *testing.T) {
	var d Decoder
	if got := d.Feed([]byte("\x1b")); got != nil || !d.Pending() {
		t.Fatalf("%v, pending %v", got, d.Pending())
	}
	if diff := cmp.Diff([]Key{{Code: Escape}}, d.Flush()); diff != "" || d.Pending() {
		t.Error(diff)
	}
	if got := d.Flush(); got != nil {
		t.Errorf("again: %v", got)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"abc", "\x1b[A", "\x1b[200~x\x1b[201~", "\x1b[200~", "\xe4\xbd", "\x1b\x1b[", "\x1b[1;5"} {
		f.Add([]byte(seed), 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		var whole, parts Decoder
		join := func(lists ...[]Key) string {
			var s strings.Builder
			for _, list := range lists {
				for _, k := range list {
					s.WriteString(string(rune('A'+k.Code)) + k.Text)
				}
			}
			return strings.ReplaceAll(s.String(), "A", "") // joined text is text
		}
		a := join(whole.Feed(b), whole.Flush())
		if b := join(parts.Feed(b[:cut]), parts.Feed(b[cut:]), parts.Flush()); a != b {
			t.Errorf("at once %q, in parts %q", a, b)
		}
	})
}
