package fieldtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

const initLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"bb","version":"0"}}}`

// TestF1StdoutCarriesTheProtocolOnly: every line is checked as it is read.
func TestF1StdoutCarriesTheProtocolOnly(t *testing.T) {
	w := NewWorld(t, `[autonomy]`, `allowed_commands = ["echo"]`)
	w.Env = []string{"LOG_LEVEL=debug"}
	a, s := w.Opened("-v")
	if got := a.Prompt(s, "D:TOOL shell echo RAW; echo ERR").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	a.Quit()
	w.Configure("this is [not toml")
	a = w.Start("-v")
	a.Init()
	if m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}); m.Error == nil || !strings.Contains(m.Error.Message, "config.toml:1") {
		t.Errorf("a broken config was answered with %+v", m)
	}
	a.Quit()
}

func TestF3ValidJSONThatIsNoMessage(t *testing.T) {
	a := NewWorld(t).Start()
	a.Write("null\n42\n\"x\"\n[]\n{}\n" + `{"id":0,"level":"info"}` + "\n" + initLine + "\n")
	if m := a.Response("0"); m.Error != nil || m.Result == nil {
		t.Errorf("initialize was answered with %+v", m.Error)
	}
	a.Quit()
	answers := 0
	for _, m := range a.Messages() {
		if string(m.ID) == "0" {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("id 0 was answered %d times", answers)
	}
}

func TestF4LongLines(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	for i, size := range []int{70_000, 1 << 20, 12 << 20} {
		text := "D:SAY ok\n" + strings.Repeat("x", size)
		if got := a.Prompt(s, text).StopReason(); got != "end_turn" {
			t.Fatalf("%d bytes: %s", size, got)
		}
		if got := w.Model.Requests()[i].Bytes; got != len(text) {
			t.Errorf("the model got %d bytes of %d", got, len(text))
		}
	}
}

func TestF5OneTooLongMessageCostsOnlyItself(t *testing.T) {
	w := NewWorld(t, "[acp]", "max_message_bytes = 100000")
	a, s := w.Opened()
	a.Send(Request("7", "session/prompt", PromptParams(s, strings.Repeat("x", 200_000))))
	if m := a.Response("7"); m.Error == nil || !strings.Contains(m.Error.Message, "max_message_bytes") {
		t.Errorf("the long message was answered with %+v", m.Error)
	}
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestF7CarriageReturns(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Write(initLine + "\r\n\r\n" + Request("1", "session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}) + "\r\n")
	for _, id := range []string{"0", "1"} {
		if m := a.Response(id); m.Error != nil {
			t.Errorf("id %s: %+v", id, m.Error)
		}
	}
}

func TestF8ToolOutputIsNotCutInsideCharacters(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`)
	a, s := w.Opened()
	const n = 50 * 1024 // characters; 150 KiB
	if got := a.Prompt(s, fmt.Sprintf("D:TOOL shell yes 你 | head -n %d | tr -d '\\n'", n)).StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	open, _ := a.OpenCalls(s, 0)
	if len(open) > 0 {
		t.Errorf("open calls: %v", open)
	}
	u := a.AwaitUpdate(s, 0, "the end of the command", func(u Update) bool { return u.Status == "completed" })
	text := toolText(t, u)
	if got := strings.Count(text, "你"); got != n || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("%d characters of %d, broken ones: %d", got, n, strings.Count(text, "\uFFFD"))
	}
}

// toolText joins the text content of a tool call's update.
func toolText(t *testing.T, u Update) string {
	t.Helper()
	var content []struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(u.Raw["content"], &content); err != nil {
		t.Fatalf("content of %+v: %v", u, err)
	}
	var b strings.Builder
	for _, c := range content {
		b.WriteString(c.Content.Text)
	}
	return b.String()
}

func TestF8SplitEmojiFromTheModel(t *testing.T) {
	a, s := NewWorld(t).Opened()
	if got := a.Prompt(s, "D:SPLITEMOJI 漢字🎉é").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	if got := a.Said(s, 0); got != "漢字🎉é" {
		t.Errorf("said %q", got)
	}
}

func TestF11ByteOrderMark(t *testing.T) {
	a := NewWorld(t).Start()
	a.Write("\xef\xbb\xbf" + initLine + "\n")
	if m := a.Response("0"); m.Error != nil {
		t.Error(m.Error)
	}
}

func TestF12ParseErrors(t *testing.T) {
	a := NewWorld(t).Start()
	a.Write("{\n" + initLine + "\n")
	m := a.Await(0, "a parse error", func(m Message) bool { return m.Error != nil })
	if string(m.ID) != "null" || m.Error.Code != -32700 {
		t.Errorf("got id %s, code %d", m.ID, m.Error.Code)
	}
	if m := a.Response("0"); m.Error != nil {
		t.Error(m.Error)
	}
}

func TestF13RequestIDs(t *testing.T) {
	w := NewWorld(t)
	for _, id := range []string{`0`, `"0"`, `9007199254740993`, `-1`, `"ü/1"`} {
		a := w.Start()
		a.Send(Request(id, "initialize", object{"protocolVersion": 1}))
		if m := a.Response(id); m.Error != nil {
			t.Errorf("id %s: %+v", id, m.Error)
		}
		a.Quit()
	}
	a := w.Start()
	a.Init()
	for _, id := range []string{`null`, `true`, `1.5`, `{}`, `[1]`} {
		from := a.Lines()
		a.Send(Request(id, "session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}))
		m := a.Await(from, "a refusal", func(m Message) bool { return m.Error != nil })
		if m.Error.Code != -32600 {
			t.Errorf("id %s: code %d", id, m.Error.Code)
		}
	}
	if n := len(a.List()); n != 0 {
		t.Errorf("%d sessions were created", n)
	}
}

// List returns the ids of session/list.
func (a *Agent) List() []string {
	a.t.Helper()
	var r struct {
		Sessions []struct {
			SessionID string `json:"sessionId"`
		} `json:"sessions"`
	}
	a.Must("session/list", object{}, &r)
	ids := make([]string, 0, len(r.Sessions))
	for _, s := range r.Sessions {
		ids = append(ids, s.SessionID)
	}
	return ids
}

func TestF15Batches(t *testing.T) {
	a := NewWorld(t).Start()
	a.Write(`[{"jsonrpc":"2.0","id":11,"method":"session/list","params":{}},{"jsonrpc":"2.0","id":12,"method":"session/list","params":{}}]` + "\n" + initLine + "\n")
	if m := a.Response("0"); m.Error != nil {
		t.Error(m.Error)
	}
	if ms := a.Messages(); len(ms) != 2 || ms[0].Error == nil || ms[0].Error.Code != -32600 || string(ms[0].ID) != "null" {
		t.Errorf("a batch was answered with:\n%s", a.Transcript())
	}
}

// TestF17AnswersWhileStdinStaysOpen: Init waits for its answer with the pipe
// open.
func TestF17AnswersWhileStdinStaysOpen(t *testing.T) {
	a := NewWorld(t).Start()
	begun := time.Now()
	a.Init()
	t.Logf("initialize took %v", time.Since(begun))
}
