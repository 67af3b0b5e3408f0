package fieldtest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestX1CancelledIsAStopReason(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`)
	a, s := w.Opened()
	for name, prompt := range map[string]string{
		"stalled model": "D:STALL",
		"streaming":     "D:CHUNKS 100000,20,5",
		"tool":          "D:TOOL shell sleep 600",
	} {
		from := a.Lines()
		id := a.BeginPrompt(s, prompt)
		switch name {
		case "streaming":
			a.AwaitUpdate(s, from, "text", func(u Update) bool { return u.Text != "" })
		case "tool":
			a.AwaitRunning(s, from)
		}
		a.Cancel(s)
		if got := a.Response(id).StopReason(); got != "cancelled" {
			t.Errorf("%s: %s", name, got)
		}
		if open, _ := a.OpenCalls(s, from); len(open) > 0 {
			t.Errorf("%s: calls left open: %v", name, open)
		}
	}
}

func TestX2CancelRightBehindThePrompt(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	for i := range 100 {
		id := fmt.Sprint(1000 + i)
		a.Write(Request(id, "session/prompt", PromptParams(s, "D:STALL")) + "\n" +
			Notification("session/cancel", object{"sessionId": s}) + "\n")
		if got := a.Response(id).StopReason(); got != "cancelled" {
			t.Fatalf("round %d: %s", i, got)
		}
	}
	a.Quit()
	b := w.Start()
	b.Init()
	b.Write(Request("1", "session/load", w.LoadParams(s)) + "\n" +
		Request("2", "session/prompt", PromptParams(s, "D:STALL")) + "\n" +
		Notification("session/cancel", object{"sessionId": s}) + "\n")
	if got := b.Response("2").StopReason(); got != "cancelled" {
		t.Errorf("right after load: %s", got)
	}
}

func TestX3CancelWhileAPermissionIsOpen(t *testing.T) {
	a, s := NewWorld(t).Opened()
	id := a.BeginPrompt(s, "D:TOOL write pwn.txt x")
	p := a.AwaitPermission(0)
	a.Cancel(s)
	if got := a.Response(id).StopReason(); got != "cancelled" {
		t.Error(got)
	}
	a.Choose(p, "allow_once") // too late
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if fileSize(filepath.Join(a.w.Cwd, "pwn.txt")) > 0 {
		t.Error("the file was written after the cancel")
	}
	if open, _ := a.OpenCalls(s, 0); len(open) > 0 {
		t.Errorf("open calls: %v", open)
	}
}

func TestX4NothingAfterTheResult(t *testing.T) {
	a, s := NewWorld(t).Opened()
	m := a.Prompt(s, "D:CHUNKS 500,20")
	a.Must("session/list", object{}, nil)
	for _, u := range a.Updates(s, m.Line) {
		t.Errorf("%s after the result", u.Kind)
	}
	id := a.BeginPrompt(s, "D:CHUNKS 100000,20,2")
	a.AwaitUpdate(s, m.Line, "a chunk", func(u Update) bool { return u.Text != "" })
	a.Cancel(s)
	m = a.Response(id)
	if got := a.Prompt(s, "D:SAY third").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if got := a.Said(s, m.Line); got != "third" {
		t.Errorf("the third turn said %q", got)
	}
}

func TestX7CancelConcernsOneSession(t *testing.T) {
	w := NewWorld(t)
	a, s1 := w.Opened()
	s2 := a.New()
	id1 := a.BeginPrompt(s1, "D:STALL")
	id2 := a.BeginPrompt(s2, "D:CHUNKS 300,10,1")
	a.Cancel(s1)
	if got := a.Response(id1).StopReason(); got != "cancelled" {
		t.Error(got)
	}
	if got := a.Response(id2).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if got := len(a.Said(s2, 0)); got < 3000 {
		t.Errorf("the other session said %d bytes", got)
	}
}

func TestX9SessionsSurviveCancels(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.Prompt(s, "D:SAY remember-me")
	for i := range 50 {
		id := a.BeginPrompt(s, "D:STALL")
		a.Cancel(s)
		if got := a.Response(id).StopReason(); got != "cancelled" {
			t.Fatalf("round %d: %s", i, got)
		}
		if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
			t.Fatalf("round %d: %s", i, got)
		}
	}
	reqs := w.Model.Requests()
	if !strings.Contains(string(reqs[len(reqs)-1].Body), "remember-me") {
		t.Error("the model no longer sees the first turn")
	}
}

func TestX10PromptsQueue(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`)
	a, s := w.Opened()
	first := a.BeginPrompt(s, "D:TOOL shell read line < fifo ; D:SAY a")
	_ = first
	a.Cancel(s)
	a.Response(first)
	id1 := a.BeginPrompt(s, "D:CHUNKS 50,10,2")
	id2 := a.BeginPrompt(s, "D:SAY bbb")
	id3 := a.BeginPrompt(s, "D:SAY ccc")
	for _, id := range []string{id1, id2, id3} {
		if got := a.Response(id).StopReason(); got != "end_turn" {
			t.Errorf("%s: %s", id, got)
		}
	}
	if said := a.Said(s, 0); !strings.HasSuffix(said, "bbbccc") {
		t.Errorf("said in the end %q", said[max(0, len(said)-60):])
	}
	from := a.Lines()
	id1 = a.BeginPrompt(s, "D:STALL")
	id2 = a.BeginPrompt(s, "D:SAY never")
	a.Cancel(s)
	for _, id := range []string{id1, id2} {
		if got := a.Response(id).StopReason(); got != "cancelled" {
			t.Errorf("cancel: %s: %s", id, got)
		}
	}
	if said := a.Said(s, from); said != "" {
		t.Errorf("a cancelled queue said %q", said)
	}
}

func TestX10Reject(t *testing.T) {
	a, s := NewWorld(t, "[acp]", `concurrent_prompt = "reject"`).Opened()
	id := a.BeginPrompt(s, "D:STALL")
	m := a.Prompt(s, "D:SAY b")
	if m.Error == nil || m.Error.Code == -32002 || !strings.Contains(string(m.Error.Data), "SESSION_BUSY") {
		t.Errorf("%s %+v", m.Result, m.Error)
	}
	a.Cancel(s)
	a.Response(id)
}

func TestX12EveryPathAnswers(t *testing.T) {
	w := NewWorld(t)
	w.Configure(fmt.Sprintf(`
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
[agents.main]
provider = "fake"
max_iterations = 3
[autonomy]
allowed_commands = ["*"]
`, w.URL))
	a, s := w.Opened()
	for prompt, want := range map[string]string{
		"D:TRUNCATE": "error", "D:EMPTY": "end_turn", "D:BADJSON": "end_turn", "D:LOOP": "max_turn_requests",
		"D:REFUSE": "refusal", "D:MAXTOKENS": "max_tokens", "D:TOOL no_such_tool {}": "end_turn",
	} {
		from := a.Lines()
		got := a.Prompt(s, prompt).StopReason()
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", prompt, got)
		}
		if want != "error" && a.Said(s, from) == "" {
			t.Errorf("%s: nothing was said", prompt)
		}
		if open, _ := a.OpenCalls(s, from); len(open) > 0 {
			t.Errorf("%s: open calls %v", prompt, open)
		}
	}
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestX13OneBlockedTurnBlocksNothing(t *testing.T) {
	a, s1 := NewWorld(t).Opened()
	id := a.BeginPrompt(s1, "D:TOOL write x.txt y")
	p := a.AwaitPermission(0)
	s2 := a.New()
	a.Must("session/list", object{}, nil)
	if got := a.Prompt(s2, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	a.Must("session/set_mode", object{"sessionId": s2, "modeId": "plan"}, nil)
	a.Choose(p, "allow_once")
	if got := a.Response(id).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if fileSize(filepath.Join(a.w.Cwd, "x.txt")) == 0 {
		t.Error("the file was not written")
	}
}

func TestX15CancelRequest(t *testing.T) {
	a, s := NewWorld(t).Opened()
	a.Send(Notification("$/cancel_request", object{"requestId": 99999}))
	id := a.BeginPrompt(s, "D:STALL")
	a.Send(Notification("$/cancel_request", object{"requestId": jsonNumber(id)}))
	if m := a.Response(id); m.StopReason() != "cancelled" && (m.Error == nil || m.Error.Code != -32800) {
		t.Errorf("%s %+v", m.Result, m.Error)
	}
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestX17ProviderFailures(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	for prompt, auth := range map[string]bool{
		"D:HTTP 401": true, "D:HTTP 403": true, "D:HTTP 400": false, "D:TRUNCATE": false,
	} {
		m := a.Prompt(s, prompt)
		if m.Error == nil || (m.Error.Code == -32000) != auth || len(m.Error.Message) < 20 {
			t.Errorf("%s: %s %+v", prompt, m.Result, m.Error)
		}
		if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
			t.Errorf("after %s: %s", prompt, got)
		}
	}
}

func TestX19NoEchoToTheSender(t *testing.T) {
	a, s := NewWorld(t).Opened()
	a.Prompt(s, "D:SAY hi")
	if hasUpdate(a.Updates(s, 0), func(u Update) bool { return u.Kind == "user_message_chunk" }) {
		t.Error("the sender's own words came back")
	}
}

// A queued prompt that is cancelled by itself leaves the running one alone.
func TestX15CancelRequestOfAQueuedPrompt(t *testing.T) {
	a, s := NewWorld(t).Opened()
	from := a.Lines()
	running := a.BeginPrompt(s, "D:TOOL write x.txt y ; D:SAY done")
	p := a.AwaitPermission(from)
	queued, last := a.BeginPrompt(s, "D:SAY never"), a.BeginPrompt(s, "D:SAY last")
	a.Send(Notification("$/cancel_request", object{"requestId": jsonNumber(queued)}))
	if m := a.Response(queued); m.StopReason() != "cancelled" && (m.Error == nil || m.Error.Code != -32800) {
		t.Errorf("the queued one: %s %+v", m.Result, m.Error)
	}
	a.Choose(p, "allow_once")
	for _, id := range []string{running, last} {
		if got := a.Response(id).StopReason(); got != "end_turn" {
			t.Errorf("prompt %s ended with %s", id, got)
		}
	}
	if strings.Contains(a.Said(s, from), "never") {
		t.Error("the cancelled prompt was run")
	}
}

// A prompt that comes again under its key is answered like the first, while its
// turn runs, after it, and in another process.
func TestRepeatedPromptHasTheSameContent(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	prompt := func(text string) object {
		p := PromptParams(s, text)
		p["_meta"] = object{"grapnel": object{"key": "k"}}
		return p
	}
	content := func(m Message) string {
		t.Helper()
		var r struct {
			Content string `json:"content"`
		}
		if err := json.Unmarshal(m.Result, &r); err != nil {
			t.Fatal(err)
		}
		return r.Content
	}
	from := a.Lines()
	const text = "D:SAY before ; D:TOOL write x.txt y ; D:SAY after"
	first := a.Begin("session/prompt", prompt(text))
	p := a.AwaitPermission(from)
	during := a.Begin("session/prompt", prompt(text))
	a.Must("session/list", object{}, nil)
	a.Choose(p, "allow_once")
	want := content(a.Response(first))
	if !strings.Contains(want, "before") || !strings.Contains(want, "after") {
		t.Fatalf("the first answer is %q", want)
	}
	got := map[string]string{"during": content(a.Response(during)), "afterwards": content(a.Call("session/prompt", prompt(text)))}
	a.Quit()
	b := w.Start()
	b.Init()
	b.Must("session/load", object{"sessionId": s, "cwd": w.Cwd, "mcpServers": []any{}}, nil)
	got["in another process"] = content(b.Call("session/prompt", prompt(text)))
	for when, text := range got {
		if text != want {
			t.Errorf("%s: %q, want %q", when, text, want)
		}
	}
}
