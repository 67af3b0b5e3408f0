package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"abc", 0, "…"},
		{"aéb", 2, "a…"},
		{"aéb", 3, "aé…"},
		{"日本", 4, "日…"},
		{"a\xffb", 5, "a\uFFFDb"},
		{"a\xff\xffb", 4, "a\uFFFD…"},
	} {
		if got := Clip(c.s, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 1, ""},
		{"abc", 3, "abc"},
		{"éèê", 3, "éèê"},
		{"éèêë", 3, "éè…"},
		{"ab", 1, "…"},
	} {
		if got := Short(c.s, c.n); got != c.want {
			t.Errorf("Short(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("你好你好", 5)
	f.Add("\xe4\xbd\xe4", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 {
			return
		}
		got := Clip(s, n)
		if !utf8.ValidString(got) || len(strings.TrimSuffix(got, ellipsis)) > n {
			t.Errorf("Clip(%q, %d) = %q", s, n, got)
		}
	})
}
