package ingest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

const chunk = `{ "sessionId" : "s1","update":{"content":{"type":"text","text":"hé\n"},"sessionUpdate":"agent_message_chunk","messageId":"m1"},"_meta":{"a":1}}`

func TestLookMarks(t *testing.T) {
	body := jsontext.Value(chunk)
	f, err := Look(body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{
		"kind":    string(f.Kind),
		"session": string(Raw(body, f.Marks.SessionID)),
		"meta":    string(Raw(body, f.Marks.Meta)),
		"message": string(Raw(body, f.Marks.MessageID)),
		"text":    Text(body, f.Text),
	}
	want := map[string]string{
		"kind": "agent_message_chunk", "session": `"s1"`, "meta": `{"a":1}`, "message": `"m1"`, "text": "hé\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAppendText(t *testing.T) {
	tests := []struct{ body, want string }{
		{`"plain"`, "said: plain"},
		{`"a \"b\"\n\u00e9"`, "said: a \"b\"\né"},
		{`""`, "said: "},
		{`{"a":1}`, "said: "},
		{`"cut`, "said: "},
		{`"\ud800"`, "said: "},
	}
	for _, tt := range tests {
		at := session.Span{To: uint32(len(tt.body))}
		if got := string(AppendText([]byte("said: "), jsontext.Value(tt.body), at)); got != tt.want {
			t.Errorf("%s appended as %q, want %q", tt.body, got, tt.want)
		}
	}
}

func TestLookToolCalls(t *testing.T) {
	tests := []struct {
		body     string
		id       string
		fields   Fields
		terminal bool
	}{
		{
			`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[],"rawOutput":{"toolCallId":"no"}}}`,
			"t", FieldStatus | FieldContent | FieldRawOutput, true,
		},
		{`{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress","_meta":{}}}`, "t", FieldStatus | FieldMeta, false},
		{`{"sessionId":"s","toolCall":{"toolCallId":"t2","title":"x"},"options":[]}`, "t2", FieldTitle, false},
		{`{"sessionId":"s","toolCallId":"t3","message":"?"}`, "t3", 0, false},
		{`{"update":{"sessionUpdate":"tool_call_update","toolCallId":null,"x":1}}`, "", FieldOther, false},
	}
	for _, tt := range tests {
		body := jsontext.Value(tt.body)
		f, err := Look(body)
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if id := Text(body, f.Marks.ToolCallID); id != tt.id || f.Fields != tt.fields || f.Terminal(body) != tt.terminal {
			t.Errorf("%s: id %q fields %b terminal %v", tt.body, id, f.Fields, f.Terminal(body))
		}
	}
}

func TestLookRefuses(t *testing.T) {
	for _, body := range []string{
		``, `[]`, `"x"`, `null`, `{`, `{"a":1}{"b":2}`, `{"a":1} x`,
		`{"sessionId":"a","sessionId":"b"}`,
		`{"update":{"content":{"text":"a","text":"b"}}}`,
		"{\"sessionId\":\"\xff\"}",
		`{"sessionId":"\ud800"}`,
		`{"update":{"sessionUpdate":}}`,
	} {
		var invalid *session.InvalidError
		if _, err := Look(jsontext.Value(body)); !errors.As(err, &invalid) {
			t.Errorf("%q: got %v, want an InvalidError", body, err)
		}
	}
}

func TestLookTakesKeysExactly(t *testing.T) {
	f, err := Look(jsontext.Value(`{"SessionId":"s","Update":{"sessionUpdate":"plan"},"update":{"SessionUpdate":"plan"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != "" || !f.Marks.SessionID.IsZero() {
		t.Errorf("keys of another case were taken: %+v", f)
	}
}

func TestSpliceKeepsEveryOtherByte(t *testing.T) {
	body := jsontext.Value(chunk)
	f, _ := Look(body)
	got := Splice(body, Edit{f.Marks.Meta, []byte(`{"seq":7}`)}, Edit{f.Marks.SessionID, []byte(`"other"`)}, Edit{session.Span{}, []byte("x")})
	want := strings.Replace(strings.Replace(chunk, `"s1"`, `"other"`, 1), `{"a":1}`, `{"seq":7}`, 1)
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if string(body) != chunk {
		t.Error("the body was changed in place")
	}
}

func TestRenameCalls(t *testing.T) {
	body := jsontext.Value(`{"sessionId":"s","toolCall":{"toolCallId":"old","rawInput":{"toolCallId":"old"}},"_meta":{"claudeCode":{"parentToolUseId":"old","x":"old"}}}`)
	to := func(id string) (string, bool) { return "new", id == "old" }
	want := `{"sessionId":"s","toolCall":{"toolCallId":"new","rawInput":{"toolCallId":"old"}},"_meta":{"claudeCode":{"parentToolUseId":"new","x":"old"}}}`
	if got := RenameCalls(body, to); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	same := RenameCalls(body, func(string) (string, bool) { return "", false })
	if &same[0] != &body[0] {
		t.Error("an unchanged body was copied")
	}
}

func FuzzLook(f *testing.F) {
	f.Add([]byte(chunk))
	f.Add([]byte(`{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}`))
	f.Add([]byte(`{"update":{"sessionUpdate":"tool_call","toolCallId":"t","content":[{"x":1}]}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		body := jsontext.Value(in)
		facts, err := Look(body)
		if err != nil {
			return
		}
		if !body.IsValid() {
			t.Fatalf("accepted invalid JSON %q", in)
		}
		m := facts.Marks
		for _, s := range []session.Span{m.SessionID, m.Meta, m.MessageID, m.ToolCallID, facts.Text, facts.Status} {
			if raw := Raw(body, s); !s.IsZero() && !raw.IsValid() {
				t.Fatalf("span %v of %q marks %q", s, in, raw)
			}
		}
		spliced := Splice(body, Edit{m.SessionID, []byte(`"x"`)}, Edit{m.Meta, []byte(`{}`)})
		if !spliced.IsValid() {
			t.Fatalf("splicing %q gave %q", in, spliced)
		}
		renamed := RenameCalls(body, func(string) (string, bool) { return "y", true })
		if !renamed.IsValid() || !bytes.Equal(in, body) {
			t.Fatalf("renaming in %q gave %q", in, renamed)
		}
	})
}

func BenchmarkLookChunk(b *testing.B) {
	body := jsontext.Value(chunk)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Look(body); err != nil {
			b.Fatal(err)
		}
	}
}
