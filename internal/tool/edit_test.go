package tool

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestApplyEdits(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		edits []edit
		want  string
		err   string // a part of the error instead
	}{
		"one":                   {"a b c", []edit{{old: "b", new: "x"}}, "a x c", ""},
		"in order":              {"a b", []edit{{old: "a", new: "b"}, {old: "b b", new: "c"}}, "c", ""},
		"delete":                {"a\nb\n", []edit{{old: "a\n"}}, "b\n", ""},
		"all":                   {"aaa", []edit{{old: "a", new: "bb", all: true}}, "bbbbbb", ""},
		"all, overlapping":      {"aaa", []edit{{old: "aa", new: "b", all: true}}, "ba", ""},
		"none":                  {"a", []edit{{old: "x", new: "y"}}, "", "0 matches"},
		"two":                   {"a\na\n", []edit{{old: "a", new: "y"}}, "", "2 matches (lines 1, 2)"},
		"overlap is two":        {"aaa", []edit{{old: "aa", new: "y"}}, "", "2 matches"},
		"many":                  {strings.Repeat("a\n", 2000), []edit{{old: "a", new: "y"}}, "", "1000 or more matches (lines 1, 2, 3, 4, 5, …)"},
		"empty":                 {"a", []edit{{old: "", new: "y"}}, "", "empty"},
		"no edit":               {"a", nil, "", "no edit"},
		"no change":             {"a", []edit{{old: "a", new: "a"}}, "", "change nothing"},
		"there and back":        {"a", []edit{{old: "a", new: "b"}, {old: "b", new: "a"}}, "", "change nothing"},
		"second fails":          {"a", []edit{{old: "a", new: "b"}, {old: "a", new: "c"}}, "", "edit 2 of 2: old_text has 0 matches"},
		"near miss":             {"x\n\tif a {\n", []edit{{old: "  if a {", new: "y"}}, "", "line 2 differs from it only in blanks"},
		"near miss at the top":  {" a  b\nc", []edit{{old: "a b\n c", new: "y"}}, "", "line 1 differs"},
		"miss within a line":    {"xa b", []edit{{old: "a  b", new: "y"}}, "", "read the file again"},
		"miss of blanks":        {"a\n \nb", []edit{{old: "\t", new: "y"}}, "", "read the file again"},
		"too many":              {"a", slices.Repeat([]edit{{old: "a", new: "b"}}, 201), "", "at most 200"},
		"mixed, all":            {"ab\r\nab\nb", []edit{{old: "b", new: "\nc", all: true}}, "a\r\nc\r\na\nc\n\nc", ""},
		"crlf":                  {"a\r\nb\r\nc\r\n", []edit{{old: "a\nb\n", new: "x\ny\n"}}, "x\r\ny\r\nc\r\n", ""},
		"crlf asked as crlf":    {"a\r\nb\r\n", []edit{{old: "a\r\nb", new: "x\r\ny"}}, "x\r\ny\r\n", ""},
		"crlf, one line grows":  {"a\r\nb\r\n", []edit{{old: "b", new: "b\nc"}}, "a\r\nb\r\nc\r\n", ""},
		"crlf line end removed": {"a\r\nb\r\n", []edit{{old: "a\n", new: "a "}}, "a b\r\n", ""},
		"mixed, in lf part":     {"a\r\nb\nc\r\n", []edit{{old: "b", new: "b\nx"}}, "a\r\nb\nx\nc\r\n", ""},
		"mixed, in crlf part":   {"a\r\nb\nc\r\n", []edit{{old: "c", new: "c\nx"}}, "a\r\nb\nc\r\nx\r\n", ""},
		"lone cr stays":         {"a\rb\r\nc", []edit{{old: "c", new: "d"}}, "a\rb\r\nd", ""},
		"grows without end":     {strings.Repeat("a", 1<<16), []edit{{old: "a", new: strings.Repeat("b", 1<<20), all: true}}, "", "grow beyond"},
		"grows edit by edit":    {"a", slices.Repeat([]edit{{old: "a", new: strings.Repeat("b", 1<<20) + "a"}}, 40), "", "grow beyond"},
		"dollar is no pattern":  {"a", []edit{{old: "a", new: "$0\\1"}}, "$0\\1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := applyEdits(tc.text, tc.edits, applyEdit)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("err = %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// A crafted text costs no more than its length: what these take would be minutes
// if every match looked through all of it.
func TestCraftedTexts(t *testing.T) {
	const n = 1 << 20
	for name, tc := range map[string]struct {
		text string
		edit edit
	}{
		"many places in one long line": {"x\n" + strings.Repeat("a", n) + "\r\n", edit{old: "a", new: "b", all: true}},
		"many lines that nearly match": {strings.Repeat("a\n", n), edit{old: strings.Repeat("a\n", n/2) + "b", new: "c"}},
		"many places and no line end":  {"x\r\ny\n" + strings.Repeat("a", n), edit{old: "a", new: "b", all: true}},
	} {
		start := time.Now()
		_, err := applyEdits(tc.text, []edit{tc.edit}, applyEdit)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v, and ended with %v", name, took, err)
		}
	}
}

// A text with only LF is edited as strings.Replace would, and one with CRLF
// comes out as the same edit of its LF form with the line ends put back.
func FuzzApplyEdits(f *testing.F) {
	f.Add("a b c", "b", "x")
	f.Add("a\nb\n", "a\nb", "c\n")
	f.Add("\n\n\n", "\n\n", "")
	f.Add("a\r\nb", "\r", "x")
	f.Fuzz(func(t *testing.T, text, old, repl string) {
		got, err := applyEdits(text, []edit{{old: old, new: repl}}, applyEdit)
		if strings.ContainsRune(text+old+repl, '\r') {
			return // only that it does not panic
		}
		if err != nil {
			if old != "" && strings.Count(text, old) == 1 && old != repl && len(matches(text, old)) == 1 {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if want := strings.Replace(text, old, repl, 1); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		again, err := applyEdits(crlf(text), []edit{{old: old, new: repl}}, applyEdit)
		if !strings.Contains(text, "\n") {
			return // no line end to learn from
		}
		if err != nil || again != crlf(got) {
			t.Fatalf("as CRLF: %q, %v; want %q", again, err, crlf(got))
		}
	})
}
