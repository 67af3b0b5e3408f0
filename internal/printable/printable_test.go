package printable

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, naïve, 日本, 👩‍💻\tand\nnewline":         "plain, naïve, 日本, 👩‍💻\tand\nnewline",
		"red \x1b[31;1mtext\x1b[0m":                   "red text",
		"\x1b]0;evil title\x07after":                  "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\":    "link",
		"\x1bPdevice\x1b\\ok":                         "ok",
		"\x1b]0;never ends":                           "0;never ends",
		"\x1b[31":                                     "31",
		"\x1b(Bset\x1bcreset":                         "setreset",
		"\u009b2Jc1":                                  "c1",
		"\u009d0;t\u009cc1":                           "c1",
		"a\rb\x00c\bd\x7fe":                           "abcde",
		"user\u202egpj.exe":                           "usergpj.exe",
		"\u2066iso\u2069late":                         "isolate",
		"bad \xff\xfe utf8":                           "bad \ufffd\ufffd utf8",
		"\x1b":                                        "",
		"\x1b\x1b[1mx":                                "x",
		"עברית \u200fstays":                           "עברית \u200fstays",
		"\x1b]" + strings.Repeat("x", 5000) + "\x07.": strings.Repeat("x", 5000) + ".",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, naïve, 👩‍💻\tand\nnewline": "plain, naïve, 👩‍💻\tand\nnewline",
		"a\u202eb\x1b[2J\r":               "a<U+202E>b<U+001B>[2J<U+000D>",
		"a\u200bb\ufeff":                  "a<U+200B>b<U+FEFF>",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	if got, want := Line("  a\n\tb\x1b[2J  c "), "a b c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJSONKeepsTheValue(t *testing.T) {
	in := "{\"a\":\"x\u202ey\u009b2J\u007f\"}\n"
	out := JSON([]byte(in))
	var a, b map[string]string
	if err := json.Unmarshal([]byte(in), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &b); err != nil {
		t.Fatal(err)
	}
	if a["a"] != b["a"] || strings.ContainsFunc(string(out), harmful) {
		t.Errorf("%q became %q", in, out)
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a", "\x1b[1;2", "\x1b]x\x1b\\", "\xc2\x9b", "\x1b\x1b]\x1b\\", "\xff\u202e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, harmful) {
			t.Errorf("Text(%q) = %q", s, got)
		}
		if again := Text(got); again != got {
			t.Errorf("Text is not stable: %q, %q", got, again)
		}
	})
}
