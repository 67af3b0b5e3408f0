package fieldtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answers are all the ways a client may answer a request for permission, with
// what the agent has to make of each.
var answers = []struct {
	name   string
	answer string // a result, or the tail of a response that begins with a comma
	runs   bool
	says   string // in the failed call
}{
	{name: "allow once", answer: `{"outcome":{"outcome":"selected","optionId":"allow-once"}}`, runs: true},
	{name: "allow always", answer: `{"outcome":{"outcome":"selected","optionId":"allow-always"}}`, runs: true},
	{name: "more than was asked", answer: `{"outcome":{"outcome":"selected","optionId":"allow-once","x":1},"_meta":{"a":1}}`, runs: true},
	{name: "reject", answer: `{"outcome":{"outcome":"selected","optionId":"reject-once"}}`, says: "the user said no"},
	{name: "cancelled", answer: `{"outcome":{"outcome":"cancelled"}}`, says: "the client dismissed the request"},
	{name: "an error", answer: `,"error":{"code":-32603,"message":"allow-once"}`, says: "nobody gave it"},
	{name: "an error of no form", answer: `,"error":"allow-once"`, says: "nobody gave it"},
	{name: "result and error", answer: `,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}},"error":{"code":1,"message":"x"}`, says: "nobody gave it"},
	{name: "an option that was not offered", answer: `{"outcome":{"outcome":"selected","optionId":"allow_everything"}}`, says: "nobody gave it"},
	{name: "an option by its kind", answer: `{"outcome":{"outcome":"selected","optionId":"allow_once"}}`, says: "nobody gave it"},
	{name: "no option", answer: `{"outcome":{"outcome":"selected"}}`, says: "nobody gave it"},
	{name: "an option that is no text", answer: `{"outcome":{"outcome":"selected","optionId":0}}`, says: "nobody gave it"},
	{name: "an outcome that is not known", answer: `{"outcome":{"outcome":"approved","optionId":"allow-once"}}`, says: "nobody gave it"},
	{name: "no outcome", answer: `{"outcome":{}}`, says: "nobody gave it"},
	{name: "nothing", answer: `{}`, says: "nobody gave it"},
	{name: "null", answer: `null`, says: "nobody gave it"},
	{name: "a word", answer: `"allow-once"`, says: "nobody gave it"},
	{name: "a list", answer: `["allow-once"]`, says: "nobody gave it"},
	{name: "yes", answer: `true`, says: "nobody gave it"},
	{name: "the option outside", answer: `{"optionId":"allow-once"}`, says: "nobody gave it"},
	{name: "the outcome as a word", answer: `{"outcome":"selected","optionId":"allow-once"}`, says: "nobody gave it"},
}

// TestP5P8PermissionMatrix: a tool runs after an offered yes and after nothing
// else; the turn goes on and says what became of the call.
func TestP5P8PermissionMatrix(t *testing.T) {
	a, s := NewWorld(t).Opened()
	for i, tt := range answers {
		t.Run(tt.name, func(t *testing.T) {
			target := filepath.Join(a.w.Cwd, fmt.Sprint("file", i))
			from := a.Lines()
			id := a.BeginPrompt(s, "D:TOOL shell touch "+target)
			p := a.AwaitPermission(from)
			if strings.HasPrefix(tt.answer, ",") {
				a.Send(`{"jsonrpc":"2.0","id":` + p.ID + tt.answer + `}`)
			} else {
				a.Answer(p, json.RawMessage(tt.answer))
			}
			if got := a.Response(id).StopReason(); got != "end_turn" {
				t.Errorf("the turn ended with %s", got)
			}
			if exists(target) != tt.runs {
				t.Errorf("the command ran: %v", exists(target))
			}
			status := map[bool]string{true: "completed", false: "failed"}[tt.runs]
			u := a.AwaitUpdate(s, from, "the end of the call", func(u Update) bool { return u.Status == "completed" || u.Status == "failed" })
			if u.Status != status || !strings.Contains(string(u.Raw["content"]), tt.says) {
				t.Errorf("the call is %s: %s", u.Status, u.Raw["content"])
			}
		})
	}
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// TestP8IDsOfAnswers: an answer counts by the id as it was sent, and by no other
// that looks like it.
func TestP8IDsOfAnswers(t *testing.T) {
	a, s := NewWorld(t).Opened()
	target := filepath.Join(a.w.Cwd, "file")
	id := a.BeginPrompt(s, "D:TOOL shell touch "+target)
	p := a.AwaitPermission(0)
	other := `"` + p.ID + `"` // the number as a text, or the text in more quotes
	if strings.HasPrefix(p.ID, `"`) {
		other = strings.Trim(p.ID, `"`)
	}
	for _, wrong := range []string{other, "null", "-1", "0.5", `""`, "1e400"} {
		if wrong != p.ID {
			a.Send(`{"jsonrpc":"2.0","id":` + wrong + `,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`)
		}
	}
	a.Choose(p, "reject_once")
	if got := a.Response(id).StopReason(); got != "end_turn" || exists(target) {
		t.Errorf("%s, and the command ran: %v", got, exists(target))
	}
}

// TestP10NobodyAnswers: a request that nobody answers in time is over; that is
// told as what it is and not as a person's no, and a late answer changes
// nothing.
func TestP10NobodyAnswers(t *testing.T) {
	w := NewWorld(t, "[acp]", "permission_timeout_secs = 1")
	a, s := w.Opened()
	target := filepath.Join(w.Cwd, "file")
	id := a.BeginPrompt(s, "D:TOOL shell touch "+target)
	p := a.AwaitPermission(0)
	if got := a.Response(id).StopReason(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	u := a.AwaitUpdate(s, 0, "the failed call", func(u Update) bool { return u.Status == "failed" })
	if text := string(u.Raw["content"]); !strings.Contains(text, "timed out") || strings.Contains(text, "said no") {
		t.Errorf("the call says %s", text)
	}
	requests := w.Model.Requests()
	if !strings.Contains(string(requests[len(requests)-1].Body), "not a person's decision") {
		t.Error("the model is not told that nobody decided")
	}
	a.Choose(p, "allow_once")
	if got := a.Prompt(s, "D:SAY still here").StopReason(); got != "end_turn" || exists(target) {
		t.Errorf("after a late answer: %s, and the command ran: %v", got, exists(target))
	}
}

// TestP10ClientLeavesUnanswered: a client that closes, or dies, while it is
// asked has not said yes; the session can be loaded and shows a failed call.
func TestP10ClientLeavesUnanswered(t *testing.T) {
	for _, leave := range []func(*Agent){(*Agent).CloseInput, (*Agent).Crash} {
		w := NewWorld(t)
		a, s := w.Opened()
		target := filepath.Join(w.Cwd, "file")
		a.BeginPrompt(s, "D:TOOL shell touch "+target)
		a.AwaitPermission(0)
		leave(a)
		a.WaitExit()
		b := w.Start()
		b.Init()
		b.Must("session/load", w.LoadParams(s), nil)
		if open, _ := b.OpenCalls(s, 0); len(open) > 0 || exists(target) {
			t.Errorf("calls left open: %v, and the command ran: %v", open, exists(target))
		}
		if slices.ContainsFunc(b.Messages(), func(m Message) bool { return m.Method == "session/request_permission" }) {
			t.Error("the request of a turn that is over was shown again")
		}
		b.Quit()
	}
}

// TestP4ThreeRequestsAnsweredBackwards: of requests that are open at once each
// answer finds its own, whatever the order.
func TestP4ThreeRequestsAnsweredBackwards(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Init()
	kinds := []string{"allow_once", "reject_once", "allow_once"}
	sessions, turns := make([]string, len(kinds)), make([]string, len(kinds))
	requests := make([]Permission, len(kinds))
	for i := range kinds {
		sessions[i] = a.New()
		from := a.Lines()
		turns[i] = a.BeginPrompt(sessions[i], fmt.Sprintf("D:TOOL shell touch %s", filepath.Join(w.Cwd, fmt.Sprint("file", i))))
		requests[i] = a.AwaitPermission(from)
	}
	for i := len(kinds) - 1; i >= 0; i-- {
		a.Choose(requests[i], kinds[i])
	}
	for i, kind := range kinds {
		a.Response(turns[i])
		if ran := exists(filepath.Join(w.Cwd, fmt.Sprint("file", i))); ran != (kind == "allow_once") {
			t.Errorf("request %d was answered with %s, and the command ran: %v", i, kind, ran)
		}
	}
}

// TestP4SubagentsAnsweredBackwards is the same within one turn, where several
// subagents ask at once.
func TestP4SubagentsAnsweredBackwards(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	kinds := []string{"allow_once", "reject_once", "allow_once"}
	var prompt []string
	for i := range kinds {
		prompt = append(prompt, spawn("ALSO", fmt.Sprintf("D:TOOL shell touch %s", filepath.Join(w.Cwd, fmt.Sprint("file", i)))))
	}
	id := a.BeginPrompt(s, strings.Join(prompt, "\n"))
	requests := make([]Permission, len(kinds))
	from := 0
	for i := range requests {
		requests[i] = a.AwaitPermission(from)
		from = requests[i].Line + 1
	}
	slices.Reverse(requests)
	for _, p := range requests {
		raw := string(p.ToolCall.RawInput)
		a.Choose(p, kinds[raw[strings.LastIndex(raw, "file")+len("file")]-'0'])
	}
	if got := a.Response(id).StopReason(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	for i, kind := range kinds {
		if ran := exists(filepath.Join(w.Cwd, fmt.Sprint("file", i))); ran != (kind == "allow_once") {
			t.Errorf("command %d was answered with %s, and ran: %v", i, kind, ran)
		}
	}
}

// TestP4ParallelCallsAreAskedInOrder: the calls of one step are asked about one
// after the other, and each answer holds for its own.
func TestP4ParallelCallsAreAskedInOrder(t *testing.T) {
	a, s := NewWorld(t).Opened()
	id := a.BeginPrompt(s, "D:PAR 3 touch par-$$; echo x >> par")
	from := 0
	for _, kind := range []string{"allow_once", "reject_once", "allow_once"} {
		p := a.AwaitPermission(from)
		a.Choose(p, kind)
		from = p.Line + 1
	}
	a.Response(id)
	var ended []string
	for _, u := range a.Updates(s, 0) {
		if u.Status == "completed" || u.Status == "failed" {
			ended = append(ended, u.Status)
		}
	}
	if got := strings.Join(ended, " "); got != "completed failed completed" {
		t.Errorf("the calls ended as %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(a.w.Cwd, "par")); err != nil || string(text) != "x\nx\n" {
		t.Errorf("the file holds %q: %v", text, err)
	}
}
