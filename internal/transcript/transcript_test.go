package transcript

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/grapnel-ai/grapnel/internal/session"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// updates makes the events of updates, each written as the update's members.
func updates(members ...string) []session.Event {
	var events []session.Event
	for i, m := range members {
		kind, rest, _ := strings.Cut(m, " ")
		body := fmt.Sprintf(`{"sessionId":"s_1","update":{"sessionUpdate":%q,%s}}`, kind, rest)
		if rest == "" || rest[0] == '{' {
			body = rest
		}
		events = append(events, session.Event{
			Seq: session.Seq(i + 1), ID: fmt.Sprint("e_", i+1), Time: at, Kind: session.Kind(kind), Body: jsontext.Value(body),
		})
	}
	return events
}

func folded(events []session.Event) []Entry {
	var f Fold
	for _, e := range events {
		f.Add(e)
	}
	return f.Entries()
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []session.Event
		want   []Entry
	}{
		{
			"chunks of one message, with something in between",
			updates(
				`agent_message_chunk "messageId":"m_1","content":{"type":"text","text":"Hel"}`,
				`tool_call "toolCallId":"c1","title":"Look","status":"pending"`,
				`agent_message_chunk "messageId":"m_1","content":{"type":"text","text":"lo"}`,
				`agent_message_chunk "messageId":"m_2","content":{"type":"text","text":"Bye"}`,
			),
			[]Entry{{Role: Agent, Seq: 1, Text: "Hello"}, {Role: Tool, Seq: 2, Text: "Look", Call: "c1", Status: "pending"}, {Role: Agent, Seq: 4, Text: "Bye"}},
		},
		{
			"chunks without ids",
			updates(
				`agent_thought_chunk "content":{"type":"text","text":"hm"}`,
				`agent_thought_chunk "content":{"type":"text","text":"m"}`,
				`agent_message_chunk "content":{"type":"text","text":"a"}`,
				`agent_thought_chunk "messageId":null,"content":{"type":"text","text":"n"}`,
			),
			[]Entry{{Role: Thought, Seq: 1, Text: "hmm"}, {Role: Agent, Seq: 3, Text: "a"}, {Role: Thought, Seq: 4, Text: "n"}},
		},
		{
			"a prompt of many kinds of blocks",
			updates(
				`user_message_chunk "messageId":"m","content":{"type":"text","text":"see"}`,
				`user_message_chunk "messageId":"m","content":{"type":"resource_link","uri":"file:///a","name":"a"}`,
				`user_message_chunk "messageId":"m","content":{"type":"resource","resource":{"uri":"file:///b","text":"B"}}`,
				`user_message_chunk "messageId":"m","content":{"type":"image","mimeType":"image/png","data":"AAAA"}`,
			),
			[]Entry{{Role: User, Seq: 1, Text: "see\n[file:///a]\n[file:///b]\nB\n[image image/png]"}},
		},
		{
			"a tool call to its end",
			updates(
				`tool_call "toolCallId":"c1","title":"Edit","kind":"edit","status":"pending"`,
				`tool_call_update "toolCallId":"c1","status":"in_progress"`,
				`tool_call_update "toolCallId":"c1","title":"Edit a.go","status":"completed","content":[{"type":"diff","path":"/a.go","oldText":"x\n1\ny\n","newText":"x\n2\ny\n"},{"type":"content","content":{"type":"text","text":"done"}},{"type":"terminal","terminalId":"t1"},{"type":"new"}]`,
			),
			[]Entry{{Role: Tool, Seq: 1, Text: "Edit a.go", Call: "c1", Kind: "edit", Status: "completed", Output: "/a.go\n- 1\n+ 2\ndone\n[terminal t1]"}},
		},
		{
			"plans and remarks",
			updates(
				`plan "entries":[{"content":"one","status":"in_progress"}]`,
				`plan "entries":[{"content":"one","status":"completed"},{"content":"two","status":"pending"}]`,
				`notice "title":"Careful","description":"why"`,
				`compaction_update "status":"in_progress"`,
				`compaction_update "status":"completed"`,
			),
			[]Entry{{Role: Plan, Seq: 1, Text: "[x] one\n[ ] two"}, {Role: Notice, Seq: 3, Text: "Careful: why"}, {Role: Notice, Seq: 5, Text: "the conversation was compacted"}},
		},
		{
			"ends of turns",
			updates(
				`turn_end {"turn":"t_1","stop":"end_turn"}`,
				`turn_end {"turn":"t_2","stop":"cancelled"}`,
				`turn_end {"turn":"t_3","stop":"cancelled","reason":"interrupted"}`,
				`turn_end {"turn":"t_4","error":{"code":-32603,"message":"the model is gone"}}`,
			),
			[]Entry{
				{Role: Notice, Seq: 2, Text: "the turn ended: cancelled"},
				{Role: Notice, Seq: 3, Text: "the turn was cancelled: interrupted"},
				{Role: Notice, Seq: 4, Text: "the turn failed: the model is gone"},
			},
		},
		{
			"what cannot be made out",
			updates(
				`agent_message_chunk {"update":[]}`, `agent_message_chunk {}`, `agent_message_chunk "content":"text"`,
				`tool_call "title":"no id"`, `tool_call {"update":`, `turn_end []`, `plan "entries":{}`, `usage_update "used":1`,
			),
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, folded(c.events), cmpopts.IgnoreFields(Entry{}, "Time"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// conversation has something of everything, some of it hostile.
func conversation() []Entry {
	return folded(updates(
		`user_message_chunk "messageId":"m","content":{"type":"text","text":"fix \u001b[31mit\u202e\n\nplease"}`,
		`agent_thought_chunk "messageId":"th","content":{"type":"text","text":"easy"}`,
		"tool_call \"toolCallId\":\"c1\",\"title\":\"Run\\nls\",\"status\":\"failed\",\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\",\"text\":\"```\\nx\\n```\"}}]",
		`tool_call "toolCallId":"c2"`,
		`plan "entries":[{"content":"one","status":"pending"}]`,
		`agent_message_chunk "messageId":"a","content":{"type":"text","text":"Done.\n"}`,
		`turn_end {"turn":"t","stop":"max_tokens"}`,
	))
}

func TestWriteText(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, conversation()); err != nil {
		t.Fatal(err)
	}
	when := at.Local().Format(clock)
	want := strings.ReplaceAll(`user    WHEN
  fix it

  please

thought WHEN
  easy

tool    Run ls: failed

tool    c2: no status

plan    WHEN
  [ ] one

agent   WHEN
  Done.

notice  WHEN
  the turn ended: max_tokens

`, "WHEN", when)
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWriteMarkdown(t *testing.T) {
	var b bytes.Buffer
	info := session.Info{ID: "s_1", Agent: "main", Cwd: "/w", Title: "A \x1b[1mtitle", CreatedAt: at, UpdatedAt: at}
	if err := WriteMarkdown(&b, info, conversation()); err != nil {
		t.Fatal(err)
	}
	want := `# A title

- session: s_1
- agent: main
- directory: /w
- created: 2026-03-04T05:06:07Z
- updated: 2026-03-04T05:06:07Z

## User

fix it

please

> thought: easy

### Tool: Run ls: failed

§§§§
§§§
x
§§§
§§§§

### Tool: c2: no status

### Plan

§§§
[ ] one
§§§

## Agent

Done.

> notice: the turn ended: max_tokens
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "§", "`"), b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestJSONLine(t *testing.T) {
	body := `{"sessionId":"s","update":{"n":1.0,"u":"\u0041", "_meta":{"x":[]}}}`
	e := session.Event{Seq: 7, ID: "e_7", Kind: "x", Time: at, Turn: "t_1", Body: jsontext.Value(body)}
	got, err := JSONLine(e)
	want := `{"seq":7,"id":"e_7","kind":"x","time":"2026-03-04T05:06:07Z","turn":"t_1","body":` + body + "}\n"
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	e.Body = jsontext.Value("{\n \"a\": 1\n}")
	got, err = JSONLine(e)
	if err != nil || bytes.Count(got, []byte("\n")) != 1 || !strings.Contains(string(got), `"body":{"a":1}`) {
		t.Errorf("a body of several lines: %s, %v", got, err)
	}
	if string(e.Body) != "{\n \"a\": 1\n}" {
		t.Error("the event was changed")
	}
}

func FuzzFold(f *testing.F) {
	for _, e := range conversationEvents() {
		f.Add(string(e.Kind), []byte(e.Body))
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		entries := folded([]session.Event{{Seq: 1, Kind: session.Kind(kind), Body: body}, {Seq: 2, Kind: session.Kind(kind), Body: body}})
		if len(entries) > 2 {
			t.Errorf("%d entries of 2 events", len(entries))
		}
		if err := WriteMarkdown(&bytes.Buffer{}, session.Info{}, entries); err != nil {
			t.Error(err)
		}
		if line, err := JSONLine(session.Event{Body: body}); err == nil && jsontext.Value(body).IsValid() {
			if err := json.Unmarshal(line, new(any)); err != nil || bytes.Count(line, []byte("\n")) != 1 {
				t.Errorf("%q is no line of JSON: %v", line, err)
			}
		}
	})
}

func conversationEvents() []session.Event {
	return updates(
		`user_message_chunk "messageId":"m","content":{"type":"resource","resource":{"uri":"u","text":"t"}}`,
		`tool_call "toolCallId":"c","content":[{"type":"diff","path":"p","oldText":null,"newText":"a\nb"}]`,
		`plan "entries":[{"content":"c"}]`, `notice "title":"t"`, `turn_end {"error":{"code":1,"message":"m"}}`,
	)
}
