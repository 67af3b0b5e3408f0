package fakellm

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseScript(t *testing.T) {
	tests := []struct {
		in   string
		want script
	}{
		{"hello", nil},
		{"D:SAY a b", script{{{"SAY", "a b"}}}},
		{"D:SAY a ; D:THINK b", script{{{"SAY", "a"}, {"THINK", "b"}}}},
		{"text\n  D:TOOL shell 'echo a; echo b'\nD:SAY two", script{{{"TOOL", "shell 'echo a; echo b'"}}, {{"SAY", "two"}}}},
		{"D:PAR 2 ls ; D:LOOP", script{{{"PAR", "2 ls"}}, {{"LOOP", ""}}}},
		{"D:ALSO a {} ; D:TOOL b {} ; D:SAY x", script{{{"ALSO", "a {}"}, {"TOOL", "b {}"}}, {{"SAY", "x"}}}},
		{"D:REUSEID", script{{{"REUSEID", ""}, {"TOOL", "shell echo reused"}}}},
		{"please RUN_SHELL{echo ${HOME}} now", script{{{"TOOL", "shell echo ${HOME}"}}}},
		{"WRITE_FILE{a.txt|x {y}} READ_FILE{b}", script{{{"TOOL", "write a.txt x {y}"}}, {{"TOOL", "read b"}}}},
		{`CALL_TOOL{todo|{"a":1}}`, script{{{"TOOL", `todo {"a":1}`}}}},
		{"THINK{}", script{{{"THINK", "Let me think about it."}, {"SAY", "Thought done."}}}},
		{"FAIL{429} SLOW{3}", script{{{"HTTP", "429"}, {"SLOW", "3"}}}},
		{"json {\"a\": {}} and RUN_SHELL{open", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parseScript(tt.in), cmp.AllowUnexported(action{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestSteps(t *testing.T) {
	s := parseScript("D:TOOL shell a ; D:SAY two")
	for n, want := range []string{"TOOL", "SAY", "SAY"} {
		if got := s.step(n)[0].verb; got != want {
			t.Errorf("step %d is %s, want %s", n, got, want)
		}
	}
	if got := s.step(2)[0].arg; got != "done" {
		t.Errorf("past the end the model says %q", got)
	}
	if got := parseScript("D:LOOP").step(99)[0].verb; got != "LOOP" {
		t.Errorf("a loop ended with %s", got)
	}
}

func TestToolCall(t *testing.T) {
	codex := tool{ToolName: "exec_command", Parameters: schema{
		Properties: map[string]property{"cmd": {Type: []byte(`["array"]`)}, "login": {Type: []byte(`"boolean"`)}},
		Required:   []string{"cmd", "login"},
	}}
	write := tool{ToolName: "Write", InputSchema: schema{Properties: map[string]property{"file_path": {}, "content": {}}}}
	b := &body{Tools: []tool{codex, write}}
	tests := []struct{ arg, name, input string }{
		{"shell 'ls -l'", "exec_command", `{"cmd":["bash","-lc","ls -l"],"login":false}`},
		{"write a/b.txt some words", "Write", `{"content":"some words","file_path":"a/b.txt"}`},
		{"write a.txt", "Write", `{"content":"written by the fake model\n","file_path":"a.txt"}`},
		{"read x", "read", `{"path":"x"}`},
		{"edit f|a b|c", "edit", `{"new_text":"c","old_text":"a b","path":"f"}`},
		{`todo {"entries":[]}`, "todo", `{"entries":[]}`},
		{"status", "status", `{}`},
	}
	for _, tt := range tests {
		if name, input := b.toolCall(tt.arg); name != tt.name || input != tt.input {
			t.Errorf("D:TOOL %s calls %s %s, want %s %s", tt.arg, name, input, tt.name, tt.input)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add("D:SAY a ; D:TOOL shell 'x'\nRUN_SHELL{a{b}}")
	f.Add("}{}{")
	f.Add("D:")
	f.Fuzz(func(t *testing.T, in string) {
		s := parseScript(in)
		for n := range len(s) + 1 {
			if len(s.step(n)) == 0 {
				t.Errorf("step %d of %q does nothing", n, in)
			}
		}
		b := &body{}
		for _, a := range actions(in) {
			b.toolCall(a.arg)
		}
	})
}

func TestForget(t *testing.T) {
	s := &Server{requests: []Request{{N: 1, Prompt: "D:SAY hello", Body: []byte(`{}`)}}}
	s.Forget()
	if got := s.Requests(); len(got) != 1 || got[0].N != 1 || got[0].Prompt != "" || got[0].Body != nil {
		t.Errorf("it remembers %+v", got)
	}
}
