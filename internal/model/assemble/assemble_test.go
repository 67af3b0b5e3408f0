package assemble_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
)

func TestMessage(t *testing.T) {
	var events []model.Event
	m := assemble.New(func(ev model.Event) error {
		events = append(events, ev)
		return nil
	})
	m.Think(0, assemble.Plain("let me "))
	m.Think(0, assemble.Plain("see"))
	m.Sign(0, "c2")
	m.Sign(0, "ln")
	m.Text(1, assemble.Plain("I "))
	m.Text(1, assemble.Plain(""))
	m.Call(2, "c1", "shell")
	m.Call(3, "c2", "todo")
	m.Input(3, assemble.Plain(`{"a"`))
	m.Input(2, assemble.Plain(` { "command": "ls" } `))
	m.Text(1, assemble.Plain("look."))

	want := model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		{Thinking: &model.Thinking{Text: "let me see", Signature: "c2ln"}},
		{Text: "I look."},
		{ToolCall: &model.ToolCall{ID: "c1", Name: "shell", Input: jsontext.Value(`{"command":"ls"}`)}},
		{ToolCall: &model.ToolCall{ID: "c2", Name: "todo", Input: jsontext.Value(`{}`), Malformed: `{"a"`}},
	}}
	if diff := cmp.Diff(want, m.Message()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	wantEvents := []model.Event{
		{Kind: model.ThinkingDelta, Text: "let me "},
		{Kind: model.ThinkingDelta, Text: "see"},
		{Kind: model.TextDelta, Text: "I "},
		{Kind: model.ToolCallStart, CallID: "c1", Tool: "shell"},
		{Kind: model.ToolCallStart, CallID: "c2", Tool: "todo"},
		{Kind: model.ToolCallDelta, CallID: "c2", Tool: "todo", Text: `{"a"`},
		{Kind: model.ToolCallDelta, CallID: "c1", Tool: "shell", Text: ` { "command": "ls" } `},
		{Kind: model.TextDelta, Text: "look."},
	}
	if diff := cmp.Diff(wantEvents, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestPartialLeavesOutOpenToolCalls(t *testing.T) {
	m := assemble.New(func(model.Event) error { return nil })
	if got := m.Partial(); got != nil {
		t.Errorf("partial of nothing = %v, want nil", got)
	}
	m.Text(0, assemble.Plain("a"))
	m.Call(1, "c1", "shell")
	m.Input(1, assemble.Plain(`{}`))
	m.Done(1)
	m.Call(2, "c2", "shell")
	m.Input(2, assemble.Plain(`{"comm`))
	want := []model.Part{{Text: "a"}, {ToolCall: &model.ToolCall{ID: "c1", Name: "shell", Input: jsontext.Value(`{}`)}}}
	if diff := cmp.Diff(want, m.Partial().Message.Parts); diff != "" {
		t.Error(diff)
	}
}

func TestEmitErrorIsKept(t *testing.T) {
	stop := errors.New("enough")
	calls := 0
	m := assemble.New(func(model.Event) error { calls++; return stop })
	m.Text(0, assemble.Plain("a"))
	m.Text(0, assemble.Plain("b"))
	if !errors.Is(m.Err(), stop) || calls != 1 {
		t.Errorf("Err = %v after %d calls, want %v after 1", m.Err(), calls, stop)
	}
}

func TestToolInput(t *testing.T) {
	tests := []struct{ in, want, malformed string }{
		{"", "{}", ""},
		{" \n", "{}", ""},
		{`{"a": [1, 2]}`, `{"a":[1,2]}`, ""},
		{`{"a":`, "{}", `{"a":`},
		{`[1]`, "{}", `[1]`},
		{`"x"`, "{}", `"x"`},
		{`{} {}`, "{}", `{} {}`},
		{`{"a":1,"a":2}`, "{}", `{"a":1,"a":2}`},
		{"{\"a\":\"\xff\"}", "{}", "{\"a\":\"\xff\"}"},
	}
	for _, tt := range tests {
		got, malformed := assemble.ToolInput(tt.in)
		if string(got) != tt.want || malformed != tt.malformed {
			t.Errorf("ToolInput(%q) = %s, %q, want %s, %q", tt.in, got, malformed, tt.want, tt.malformed)
		}
	}
}

func TestF8SplitPair(t *testing.T) {
	tests := []struct {
		name   string
		deltas []string
		want   string
		pieces int
	}{
		{"whole pair", []string{`"a\ud83c\udf89b"`}, "a🎉b", 1},
		{"cut between the halves", []string{`"a\ud83c"`, `"\udf89b"`}, "a🎉b", 2},
		{"nothing between the halves", []string{`"\uD83C"`, `""`, `"\uDF89"`}, "🎉", 1},
		{"two pairs", []string{`"\ud83c"`, `"\udf89\ud83c"`, `"\udf89"`}, "🎉🎉", 2},
		{"high half alone", []string{`"a\ud83c"`, `"b"`}, "a\ufffdb", 2},
		{"low half alone", []string{`"\udf89b"`}, "\ufffdb", 1},
		{"two high halves", []string{`"\ud83c"`, `"\ud83c"`, `"\udf89"`}, "\ufffd🎉", 2},
		{"escaped backslash", []string{`"a\\ud83c"`, `"b"`}, `a\ud83cb`, 2},
		{"null", []string{`null`, `"b"`}, "b", 1},
		{"raw characters", []string{`"漢字🎉é"`}, "漢字🎉é", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pieces := 0
			m := assemble.New(func(model.Event) error { pieces++; return nil })
			for _, in := range tt.deltas {
				var d assemble.Delta
				if err := json.Unmarshal([]byte(in), &d, jsontext.AllowInvalidUTF8(true)); err != nil {
					t.Fatal(err)
				}
				m.Text(0, d)
			}
			if got := m.Message().Text(); got != tt.want || pieces != tt.pieces {
				t.Errorf("text = %q in %d events, want %q in %d", got, pieces, tt.want, tt.pieces)
			}
		})
	}
}

func FuzzDelta(f *testing.F) {
	f.Add(`"a\ud83c"`)
	f.Add(`"\\\ud83c\udf89"`)
	f.Add(`"\"`)
	f.Fuzz(func(t *testing.T, in string) {
		var d assemble.Delta
		if json.Unmarshal([]byte(in), &d, jsontext.AllowInvalidUTF8(true)) != nil {
			return
		}
		m := assemble.New(func(ev model.Event) error {
			if !utf8.ValidString(ev.Text) {
				t.Errorf("event of %q is not valid UTF-8: %q", in, ev.Text)
			}
			return nil
		})
		m.Text(0, d)
		m.Text(0, d)
	})
}

func FuzzToolInput(f *testing.F) {
	f.Add(`{"a":1}`)
	f.Add(`{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, s string) {
		input, malformed := assemble.ToolInput(s)
		if !input.IsValid() || input.Kind() != '{' {
			t.Errorf("ToolInput(%q) = %s, which is not a JSON object", s, input)
		}
		if malformed != "" && malformed != s {
			t.Errorf("malformed = %q, want %q", malformed, s)
		}
	})
}

func BenchmarkText(b *testing.B) {
	m := assemble.New(func(model.Event) error { return nil })
	b.ReportAllocs()
	for b.Loop() {
		m.Text(0, assemble.Plain("a few words "))
	}
}
