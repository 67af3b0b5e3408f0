package skill

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/grapnel-ai/grapnel/internal/command"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Skill
		body     string
	}{
		{"plain", "---\nname: pdf\ndescription: Reads PDFs\n---\n# PDF\n\nDo it.\n", Skill{Name: "pdf", Description: "Reads PDFs", User: true, Model: true}, "# PDF\n\nDo it."},
		{"name of the folder", "---\ndescription: d\n---\nx", Skill{Name: "folder", Description: "d", User: true, Model: true}, "x"},
		{"CRLF", "---\r\nname: pdf\r\ndescription: d\r\n---\r\na\r\nb\r\n", Skill{Name: "pdf", Description: "d", User: true, Model: true}, "a\nb"},
		{"BOM", "\ufeff---\nname: pdf\ndescription: d\n---\nx", Skill{Name: "pdf", Description: "d", User: true, Model: true}, "x"},
		{"no body", "---\ndescription: d\n---", Skill{Name: "folder", Description: "d", User: true, Model: true}, ""},
		{"blanks behind the fences", "--- \ndescription: d\n---\t\nx", Skill{Name: "folder", Description: "d", User: true, Model: true}, "x"},
		{"a line in the body", "---\ndescription: d\n---\na\n---\nb", Skill{Name: "folder", Description: "d", User: true, Model: true}, "a\n---\nb"},
		{"folded description", "---\ndescription: >\n  one\n  two\n\n  three\n---\n", Skill{Name: "folder", Description: "one two three", User: true, Model: true}, ""},
		{"escapes in the description", "---\ndescription: \"a\\e[31mb\\u202ec\\nd\"\n---\n", Skill{Name: "folder", Description: "abc d", User: true, Model: true}, ""},
		{"for people only", "---\ndescription: d\ndisable-model-invocation: true\n---\n", Skill{Name: "folder", Description: "d", User: true}, ""},
		{"for the model only", "---\ndescription: d\nuser-invocable: false\n---\n", Skill{Name: "folder", Description: "d", Model: true}, ""},
		{"hint", "---\ndescription: d\nargument-hint: what to check\n---\n", Skill{Name: "folder", Description: "d", User: true, Model: true, Hint: "what to check"}, ""},
		{"hint in brackets", "---\ndescription: d\nargument-hint: [issue] [3]\n---\n", Skill{}, ""},
		{"hint as a list", "---\ndescription: d\nargument-hint: [issue, 3]\n---\n", Skill{Name: "folder", Description: "d", User: true, Model: true, Hint: "[issue] [3]"}, ""},
		{"hint of other things", "---\ndescription: d\nargument-hint: [a, {b: c}, [d], ~]\n---\n", Skill{Name: "folder", Description: "d", User: true, Model: true, Hint: "[a]"}, ""},
		{"hint that is null", "---\ndescription: d\nargument-hint:\n---\n", Skill{Name: "folder", Description: "d", User: true, Model: true}, ""},
		{"members of others", "---\ndescription: d\nallowed-tools: Bash(rm *)\nlicense: MIT\nmetadata:\n  a: b\n---\n", Skill{Name: "folder", Description: "d", User: true, Model: true}, ""},
	} {
		got, body, err := parse([]byte(c.in), "folder")
		if c.want.Name == "" {
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
			continue
		}
		if c.want.Hint == "" {
			c.want.Hint = defaultHint
		}
		if d := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Skill{})); d != "" || body != c.body || err != nil {
			t.Errorf("%s: %v %q\n%s", c.name, err, body, d)
		}
	}
}

// TestParseAliases: a header of a few KiB cannot be made to grow into gigabytes.
func TestParseAliases(t *testing.T) {
	repeated := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	in := "---\ndescription: d\nargument-hint:\n- [" + repeated("0", 2500) + "]\n" + // what keeps the share of aliases low
		"- &text " + strings.Repeat("x", 4000) + "\n- &many [" + repeated("*text", 500) + "]\n- [" + repeated("*many", 300) + "]\n---\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, _, err := parse([]byte(in), "folder")
	runtime.ReadMemStats(&after)
	if err != nil || utf8.RuneCountInString(s.Hint) > maxDescription {
		t.Errorf("%v, a hint of %d bytes", err, len(s.Hint))
	}
	if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 32 {
		t.Errorf("%d MiB were allocated for a header of %d bytes", grown, len(in))
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, why string }{
		{"empty", "", "first line has to be ---"},
		{"no header", "# PDF\n", "first line has to be ---"},
		{"text before it", "\n---\ndescription: d\n---\n", "first line has to be ---"},
		{"no end", "---\ndescription: d\n", "the header has no end"},
		{"end far away", "---\ndescription: d\n" + strings.Repeat("# x\n", maxHeader) + "---\n", "the header has no end"},
		{"no description", "---\nname: pdf\n---\n", "no description"},
		{"blank description", "---\ndescription: \"  \"\n---\n", "no description"},
		{"null description", "---\ndescription:\n---\n", "no description"},
		{"description is a list", "---\ndescription: [a]\n---\n", "line 2"},
		{"colon", "---\nname: pdf\ndescription: Use when: asked\n---\n", "line 3"},
		{"tab", "---\nname:\tpdf\n\tdescription: d\n---\n", "YAML"},
		{"twice", "---\ndescription: d\ndescription: e\n---\n", "already defined"},
		{"a list", "---\n- a\n---\n", "YAML"},
		{"upper case", "---\nname: My Skill\ndescription: d\n---\n", `the name "My Skill"`},
		{"path", "---\nname: ../x\ndescription: d\n---\n", "lower-case"},
		{"long name", "---\nname: " + strings.Repeat("x", 65) + "\ndescription: d\n---\n", "lower-case"},
		{"not UTF-8", "---\ndescription: caf\xe9\n---\n", "not UTF-8"},
		{"body not UTF-8", "---\ndescription: d\n---\ncaf\xe9", "not UTF-8"},
	} {
		_, _, err := parse([]byte(c.in), "folder")
		if err == nil || !strings.Contains(err.Error(), c.why) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestLongDescriptionIsShortened(t *testing.T) {
	s, _, err := parse([]byte("---\ndescription: "+strings.Repeat("é", 2000)+"\n---\n"), "x")
	if err != nil || utf8.RuneCountInString(s.Description) != maxDescription || !strings.HasSuffix(s.Description, "é…") {
		t.Errorf("%d %v", utf8.RuneCountInString(s.Description), err)
	}
}

// FuzzParse feeds the header parser arbitrary files: whatever it takes is safe
// to show and to type.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"---\nname: pdf\ndescription: Reads PDFs\nargument-hint: [a, {b: c}]\nuser-invocable: no\n---\nbody",
		"\ufeff---\r\ndescription: |\r\n  a\r\n---\r\n", "---\n---\n", "---\ndescription: &a [*a]\n---\n",
		"---\n? [a]\n: b\n---\n", "---\ndescription: !!binary aGk=\n---\n", "---\n<<: {description: x}\n---\n",
		"---\n%YAML 9.9\n---\ndescription: x\n---\n", "---\nname: 12\ndescription: 1e9\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, body, err := parse(data, "folder")
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("error %q", err)
			}
			return
		}
		if !command.ValidName(s.Name) || s.Description == "" || s.Hint == "" || strings.ContainsAny(s.Description+s.Hint, "\n\r\x1b") {
			t.Errorf("took %+v", s)
		}
		if utf8.RuneCountInString(s.Description) > maxDescription || !utf8.ValidString(body) {
			t.Errorf("description of %d, body %q", len(s.Description), body)
		}
	})
}
