package lineedit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
)

// typed feeds keys as a terminal sends them and returns the actions asked for.
func typed(e *Editor, keys string) []Action {
	var d Decoder
	var actions []Action
	for _, k := range append(d.Feed([]byte(keys)), d.Flush()...) {
		if a := e.Press(k); a != None {
			actions = append(actions, a)
		}
	}
	return actions
}

// marked is the text with the cursor.
func (e *Editor) marked() string { return e.text[:e.pos] + "|" + e.text[e.pos:] }

func TestEditing(t *testing.T) {
	const left, right, up, down = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
	for name, c := range map[string]struct{ keys, want string }{
		"insert":               {"ac" + left + "b", "ab|c"},
		"wide":                 {"你好" + left + "们", "你们|好"},
		"emoji is one":         {"a👩‍👩‍👧b" + left + left, "a|👩‍👩‍👧b"},
		"accent is one":        {"e\u0301x" + left + "\x7f", "|x"},
		"backspace":            {"你好\x7f", "你|"},
		"backspace at start":   {"\x7f", "|"},
		"delete":               {"abc\x01\x1b[3~", "|bc"},
		"ctrl-d deletes":       {"abc\x01\x04", "|bc"},
		"home and end":         {"bc\x01a\x05d", "abcd|"},
		"kill word":            {"one two  \x17", "one |"},
		"kill to the end":      {"one two" + left + left + "\x0b", "one t|"},
		"kill the line":        {"one two" + left + "\x15", "|o"},
		"yank":                 {"one two\x17\x01\x19", "two|one "},
		"word moves":           {"one two three\x1bb\x1bb\x1bf", "one two| three"},
		"new line":             {"one\x1b\rtwo", "one\ntwo|"},
		"up within":            {"one\x1b\rtwo" + up, "one|\ntwo"},
		"down within":          {"one\x1b\rtwo\x1b[A\x1b[D" + down, "one\ntw|o"},
		"home of a line":       {"one\x1b\rtwo\x01", "one\n|two"},
		"paste":                {"\x1b[200~a\r\nb\rc\td\x1b[201~", "a\nb\nc\td|"},
		"paste acts on nobody": {"\x1b[200~a\x1b[31mb\x07\x1b[201~", "ab|"},
		"right at the end":     {"a" + right, "a|"},
	} {
		t.Run(name, func(t *testing.T) {
			var e Editor
			typed(&e, c.keys)
			if got := e.marked(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestActions(t *testing.T) {
	var e Editor
	if d := cmp.Diff([]Action{Submit, Break, Wipe, Quit, Withdrawn}, typed(&e, "\r\x03\x0c\x04\x1b")); d != "" {
		t.Error(d)
	}
	e.Set("x")
	e.pos = 0
	if got := typed(&e, "\x04"); got != nil || e.Text() != "" {
		t.Errorf("Ctrl+D in a text: %v, %q", got, e.Text())
	}
}

func TestHistory(t *testing.T) {
	var e Editor
	for _, line := range []string{"one", "two", "two", ""} {
		e.Remember(line)
	}
	e.Set("draft")
	var seen []string
	for _, key := range []string{"\x1b[A", "\x1b[A", "\x1b[A", "\x1b[B", "\x1b[B", "\x1b[B"} {
		typed(&e, key)
		seen = append(seen, e.Text())
	}
	if d := cmp.Diff([]string{"two", "one", "one", "two", "draft", "draft"}, seen); d != "" {
		t.Error(d)
	}
	for range 2 * maxHistory {
		e.Remember("a")
		e.Remember("b")
	}
	if len(e.history) != maxHistory {
		t.Errorf("%d lines are remembered", len(e.history))
	}
}

func TestCompletion(t *testing.T) {
	words := []string{"/compact", "/compare", "/usage"}
	e := Editor{Complete: func(before string) []string {
		var found []string
		for _, w := range words {
			if strings.HasPrefix(w, before) {
				found = append(found, w)
			}
		}
		return found
	}}
	if got := typed(&e, "/u\t"); got != nil || e.Text() != "/usage " {
		t.Errorf("one: %v, %q", got, e.Text())
	}
	e.Reset()
	if got := typed(&e, "/c\t"); got != nil || e.Text() != "/compa" {
		t.Errorf("common start: %v, %q", got, e.Text())
	}
	if got := typed(&e, "\t"); len(got) != 1 || got[0] != Choices || len(e.Candidates) != 2 {
		t.Errorf("choices: %v, %q", got, e.Candidates)
	}
	e.Reset()
	if got := typed(&e, "/x\t"); got != nil || e.Text() != "/x" {
		t.Errorf("none: %v, %q", got, e.Text())
	}
}

func TestFrame(t *testing.T) {
	for name, c := range map[string]struct {
		text          string
		pos           int
		columns, rows int
		want          Frame
	}{
		"short":         {"abc", 3, 10, 5, Frame{[]string{"> abc"}, 0, 5}},
		"inside":        {"abc", 1, 10, 5, Frame{[]string{"> abc"}, 0, 3}},
		"wraps":         {"abcdef", 6, 6, 5, Frame{[]string{"> abcd", "ef"}, 1, 2}},
		"just fits":     {"abcd", 4, 6, 5, Frame{[]string{"> abcd", ""}, 1, 0}},
		"wide wraps":    {"你好吗", 9, 7, 5, Frame{[]string{"> 你好", "吗"}, 1, 2}},
		"lines":         {"a\nb", 3, 10, 5, Frame{[]string{"> a", "  b"}, 1, 3}},
		"tab":           {"a\tb", 3, 20, 5, Frame{[]string{"> a    b"}, 0, 8}},
		"taller":        {"a\nb\nc\nd\ne", 9, 10, 4, Frame{[]string{"  c", "  d", "  e"}, 2, 3}},
		"taller, start": {"a\nb\nc\nd\ne", 0, 10, 4, Frame{[]string{"> a", "  b", "  c"}, 0, 2}},
		"narrow":        {"ab", 2, 2, 5, Frame{[]string{"ab", ""}, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			e := Editor{Prompt: "> ", text: c.text, pos: c.pos}
			if d := cmp.Diff(c.want, e.Frame(c.columns, c.rows)); d != "" {
				t.Error(d)
			}
		})
	}
}

// FuzzEditor presses any keys: the text stays text, the cursor between its
// characters, and the frame on the screen.
func FuzzEditor(f *testing.F) {
	f.Add("abc\x1b[D\x7f你好\x17\x1b\r\x1b[A\t", 10, 4)
	f.Add("\x1b[200~a\nb\u0301\x1b[201~\x01\x04", 3, 1)
	f.Fuzz(func(t *testing.T, keys string, columns, rows int) {
		columns, rows = 2+min(max(columns, 0), 200), 1+min(max(rows, 0), 50)
		e := Editor{Prompt: "> ", Complete: func(string) []string { return []string{"/one", "/two"} }}
		e.Remember("old")
		typed(&e, keys)
		if !utf8.ValidString(e.text) || e.pos < 0 || e.pos > len(e.text) || e.settle(e.pos) != e.pos {
			t.Fatalf("%q", e.marked())
		}
		frame := e.Frame(columns, rows)
		if len(frame.Rows) > max(rows-1, 1) || frame.Row < 0 || frame.Row >= len(frame.Rows) || frame.Col < 0 || frame.Col >= columns {
			t.Fatalf("%+v on %d by %d", frame, columns, rows)
		}
		for _, row := range frame.Rows {
			if w := displaywidth.String(row); w > columns {
				t.Errorf("a row of %d columns on %d: %q", w, columns, row)
			}
		}
	})
}
