package demo

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	type brief struct{ Tool, Input string }
	tests := []struct {
		in   string
		want []brief
	}{
		{"list", []brief{{"list_dir", `{"path":"."}`}}},
		{"List the files.", []brief{{"list_dir", `{"path":"."}`}}},
		{"list the files in `cmd/x`", []brief{{"list_dir", `{"path":"cmd/x"}`}}},
		{"ls docs", []brief{{"list_dir", `{"path":"docs"}`}}},
		{"please read README.md", []brief{{"file_read", `{"path":"README.md"}`}}},
		{"show main.go line 12", []brief{{"file_read", `{"line":12,"path":"main.go"}`}}},
		{"search for TODO in internal", []brief{{"content_search", `{"path":"internal","pattern":"TODO"}`}}},
		{`grep "func main"`, []brief{{"content_search", `{"pattern":"func main"}`}}},
		{"find **/*.go", []brief{{"glob_search", `{"pattern":"**/*.go"}`}}},
		{"run `go test ./...`", []brief{{"shell", `{"command":"go test ./..."}`}}},
		{"run if true; then echo a; fi", []brief{{"shell", `{"command":"if true; then echo a; fi"}`}}},
		{"$ ls -l", []brief{{"shell", `{"command":"ls -l"}`}}},
		{"git status --short", []brief{{"git", `{"args":["status","--short"]}`}}},
		{"write a.txt: hello", []brief{{"file_write", `{"content":"hello\n","path":"a.txt"}`}}},
		{`write "a: b" to a.txt`, []brief{{"file_write", `{"content":"a: b\n","path":"a.txt"}`}}},
		{"create a.txt with hello", []brief{{"file_write", `{"content":"hello\n","path":"a.txt"}`}}},
		{`replace "a b" with c in x.txt`, []brief{{"file_edit", `{"new_text":"c","old_text":"a b","path":"x.txt"}`}}},
		{"edit x.txt: replace a with b", []brief{{"file_edit", `{"new_text":"b","old_text":"a","path":"x.txt"}`}}},
		{"ask me Which one?: red, green", []brief{{"ask_user", `{"choices":["red","green"],"question":"Which one?"}`}}},
		{"ask What now?", []brief{{"ask_user", `{"question":"What now?"}`}}},
		{"plan look, change, test", []brief{{"todo", `{"entries":[{"content":"look","priority":"medium","status":"in_progress"},{"content":"change","priority":"medium","status":"pending"},{"content":"test","priority":"medium","status":"pending"}]}`}}},
		{"1. list\n2) read a\n- run ls, then read b; list c", []brief{{"list_dir", `{"path":"."}`}, {"file_read", `{"path":"a"}`}, {"shell", `{"command":"ls"}`}, {"file_read", `{"path":"b"}`}, {"list_dir", `{"path":"c"}`}}},
		{"read a and then run ls", []brief{{"file_read", `{"path":"a"}`}, {"shell", `{"command":"ls"}`}}},
		{"Hello!", nil},
		{"tell me a joke", nil},
		{"read", nil},
		{"replace a in b", nil},
		{"write something", nil},
	}
	for _, tt := range tests {
		steps, _ := parse(tt.in)
		var got []brief
		for _, s := range steps {
			got = append(got, brief{s.tool, string(s.input)})
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestParseOtherSteps(t *testing.T) {
	steps, unknown := parse("think about it\nwait 0.5s\nwait for ever\nwait 1e9\nsay `hi`\nsing a song")
	if len(steps) != 5 || steps[0].think == "" || steps[4].say != "hi" {
		t.Errorf("steps = %+v", steps)
	}
	waits := []time.Duration{steps[1].wait, steps[2].wait, steps[3].wait}
	if diff := cmp.Diff([]time.Duration{500 * time.Millisecond, 3 * time.Second, time.Minute}, waits); diff != "" {
		t.Errorf("waits: %s", diff)
	}
	if diff := cmp.Diff([]string{"sing a song"}, unknown); diff != "" {
		t.Errorf("unknown: %s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"list", "run a; b, then read c", "replace \" with ' in `", "write İ to x", "1. 2. -- please", "ask : ,", "wait NaN", "\xff\xfe run \xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		steps, _ := parse(in)
		if len(steps) > maxSteps {
			t.Errorf("%d steps", len(steps))
		}
		for _, s := range steps {
			if s.tool != "" && (!s.input.IsValid() || s.input.Kind() != jsontext.KindBeginObject) {
				t.Errorf("%q calls %s with %s", in, s.tool, s.input)
			}
			if s.wait > maxWait {
				t.Errorf("%q waits %s", in, s.wait)
			}
			if s.tool == "" && s.say == "" && s.think == "" && s.wait == 0 {
				t.Errorf("%q has a step that does nothing", in)
			}
		}
	})
}
