package fieldtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestS1NothingBeforeTheNewResponse(t *testing.T) {
	a, s := NewWorld(t).Opened()
	for _, m := range a.Messages() {
		if strings.Contains(string(m.Result), s) {
			return
		}
		if strings.Contains(string(m.Params), s) {
			t.Fatalf("%s came before the response", m.Method)
		}
	}
}

// seen is what a person sees of a session: chunks joined, tool calls in their
// last state.
func seen(list []Update) []string {
	var out []string
	calls := make(map[string]int)
	state := make(map[string]map[string]json.RawMessage)
	for _, u := range list {
		switch u.Kind {
		case "user_message_chunk", "agent_message_chunk", "agent_thought_chunk":
			key := u.Kind + " " + u.Message + ": "
			if n := len(out); n > 0 && strings.HasPrefix(out[n-1], key) {
				out[n-1] += u.Text
			} else {
				out = append(out, key+u.Text)
			}
		case "tool_call", "tool_call_update":
			at, ok := calls[u.Call]
			if !ok {
				at = len(out)
				calls[u.Call] = at
				state[u.Call] = make(map[string]json.RawMessage)
				out = append(out, "")
			}
			for k, v := range u.Raw {
				if k != "sessionUpdate" {
					state[u.Call][k] = v
				}
			}
			out[at] = "tool " + encode(state[u.Call])
		case "plan":
			out = append(out, "plan "+string(u.Raw["entries"]))
		}
	}
	return out
}

func TestS2S3LoadShowsWhatWasSeenLive(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["echo", "false"]`)
	if err := os.WriteFile(filepath.Join(w.Cwd, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, s := w.Opened()
	prompts := []string{
		"D:THINK hmm ; D:SAY one",
		"D:SAY before ; D:TOOL read a.txt ; D:TOOL shell echo x ; D:TOOL shell false ; D:SAY two",
		"D:TOOL edit a.txt|one|two ; D:TOOL write b/c.txt new",
		`D:TOOL todo {"entries":[{"content":"x","priority":"high","status":"pending"}]}`,
	}
	for i, p := range prompts {
		from := a.Lines()
		id := a.BeginPrompt(s, p)
		if i == 2 { // the edit is refused, the write allowed
			first := a.AwaitPermission(from)
			a.Choose(first, "reject_once")
			a.Choose(a.AwaitPermission(first.Line+1), "allow_once")
		}
		if got := a.Response(id).StopReason(); got != "end_turn" {
			t.Fatalf("%s: %s", p, got)
		}
	}
	live := seen(a.Updates(s, 0))
	a.Quit()

	b := w.Start()
	b.Init()
	id := b.Begin("session/load", w.LoadParams(s))
	m := b.Response(id)
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	var before []Update
	for _, u := range b.Updates(s, 0) {
		if u.Line < m.Line {
			before = append(before, u)
		}
	}
	replayed := seen(before)
	var users []string
	replayed = slices.DeleteFunc(replayed, func(line string) bool {
		if text, ok := strings.CutPrefix(line, "user_message_chunk"); ok {
			_, text, _ = strings.Cut(text, ": ")
			users = append(users, text)
			return true
		}
		return false
	})
	if diff := cmp.Diff(prompts, users); diff != "" {
		t.Errorf("the user's words (-sent +replayed):\n%s", diff)
	}
	if diff := cmp.Diff(live, replayed); diff != "" {
		t.Errorf("live and replayed differ (-live +replayed):\n%s", diff)
	}
	if len(live) < 9 {
		t.Errorf("the live session shows only %d things:\n%s", len(live), strings.Join(live, "\n"))
	}
}

func TestS4KilledToolIsNotReplayedAsRunning(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`)
	a, s := w.Opened()
	a.BeginPrompt(s, "D:TOOL shell sleep 600")
	a.AwaitRunning(s, 0)
	a.Kill()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	open, unannounced := b.OpenCalls(s, 0)
	if len(open)+len(unannounced) > 0 {
		t.Errorf("open %v, unannounced %v", open, unannounced)
	}
	if got := b.Prompt(s, "D:SAY on").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestS6UnknownSessions(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Init()
	for _, id := range []string{"nope", "../../etc/passwd", "", strings.Repeat("x", 5000), "s_\u0000"} {
		for method, more := range map[string]object{
			"session/load":              {"cwd": w.Cwd, "mcpServers": []any{}},
			"session/resume":            {"cwd": w.Cwd, "mcpServers": []any{}},
			"session/prompt":            {"prompt": []object{{"type": "text", "text": "x"}}},
			"session/set_mode":          {"modeId": "ask"},
			"session/set_config_option": {"configId": "mode", "value": "ask"},
			"session/close":             {},
			"session/status":            {},
			"session/set_title":         {"title": "x"},
			"session/fork":              {"cwd": w.Cwd},
		} {
			more["sessionId"] = id
			want := -32002
			if id == "" {
				want = -32602
			}
			if m := a.Call(method, more); m.Error == nil || m.Error.Code != want {
				t.Errorf("%s of %.20q: %s %+v", method, id, m.Result, m.Error)
			}
		}
		from := a.Lines()
		a.Cancel(id)
		a.Must("session/list", object{}, nil)
		if got := a.Lines() - from; got != 1 {
			t.Errorf("a cancel of an unknown session was answered")
		}
	}
	a.Must("session/delete", object{"sessionId": "nope"}, nil)
	if n := len(a.List()); n != 0 {
		t.Errorf("%d sessions appeared", n)
	}
}

func TestS8OneFormOfIDs(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	if !slices.Contains(a.List(), s) {
		t.Errorf("%s is not listed", s)
	}
	a.Quit()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
}

func TestS12LoadChangesNothingInTheList(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.Prompt(s, "D:SAY hi")
	a.New()
	// What a session does now is no property that a load could change.
	list := func(c interface{ Call(string, any) Message }) string {
		return regexp.MustCompile(`"state":"[a-z_]+"`).ReplaceAllString(string(c.Call("session/list", object{}).Result), "")
	}
	before := list(a)
	a.Quit()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if after := list(b); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
}

func TestS13Cwd(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["pwd"]`)
	a, s := w.Opened()
	for _, cwd := range []string{"/nope", "rel", "/etc/hosts", "../x", w.Cwd + "\x00"} {
		m := a.Call("session/new", object{"cwd": cwd, "mcpServers": []any{}})
		if m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("cwd %q: %s %+v", cwd, m.Result, m.Error)
		}
	}
	other := realDir(t, t.TempDir())
	a.Must("session/close", object{"sessionId": s}, nil)
	p := w.LoadParams(s)
	p["cwd"] = other
	if m := a.Call("session/load", p); m.Error != nil {
		if m.Error.Code != -32602 {
			t.Errorf("load with another cwd: %+v", m.Error)
		}
		return
	}
	from := a.Lines()
	a.Prompt(s, "D:TOOL shell pwd")
	u := a.AwaitUpdate(s, from, "the output of pwd", func(u Update) bool { return u.Status == "completed" })
	if !strings.Contains(toolText(t, u), other) {
		t.Errorf("pwd printed %q, not %s", toolText(t, u), other)
	}
}

func TestS13CwdThatVanishes(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["pwd"]`)
	a, s := w.Opened()
	if err := os.RemoveAll(w.Cwd); err != nil {
		t.Fatal(err)
	}
	if got := a.Prompt(s, "D:TOOL shell pwd").StopReason(); got != "end_turn" {
		t.Errorf("the turn ended with %s", got)
	}
	u := a.AwaitUpdate(s, 0, "a failed call", func(u Update) bool { return u.Status == "failed" })
	if !strings.Contains(toolText(t, u), filepath.Base(w.Cwd)) {
		t.Errorf("the failure does not name the directory: %q", toolText(t, u))
	}
}

func TestS15KillLosesNothingThatWasAnswered(t *testing.T) {
	w := NewWorld(t)
	for i := range 10 {
		a, s := w.Opened()
		want := fmt.Sprintf("answer %d", i)
		a.Prompt(s, "D:SAY "+want)
		a.Kill()
		b := w.Start()
		b.Init()
		b.Must("session/load", w.LoadParams(s), nil)
		if got := b.Said(s, 0); got != want {
			t.Fatalf("after the kill the answer reads %q, not %q", got, want)
		}
		b.Kill()
	}
}

func TestS15KillInTheMiddleKeepsThePromptAndThePart(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.BeginPrompt(s, "D:SAY part ; D:STALL")
	a.AwaitUpdate(s, 0, "the first words", func(u Update) bool { return u.Text != "" })
	said := a.Said(s, 0)
	a.Kill()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if got := b.Said(s, 0); !strings.HasPrefix(got, said) {
		t.Errorf("shown %q, kept %q", said, got)
	}
	if !hasUpdate(b.Updates(s, 0), func(u Update) bool { return u.Kind == "user_message_chunk" }) {
		t.Error("the prompt is gone")
	}
}

func TestS18OptionsSurviveARestart(t *testing.T) {
	w := NewWorld(t)
	w.Configure(fmt.Sprintf(`
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
[agents.main]
provider = "fake"
[agents.other]
provider = "fake"
model = "other-model"
[acp]
default_agent = "main"
`, w.URL))
	a, s := w.Opened()
	a.Must("session/set_config_option", object{"sessionId": s, "configId": "model", "value": "other-model"}, nil)
	a.Must("session/set_mode", object{"sessionId": s, "modeId": "plan"}, nil)
	a.Quit()
	b := w.Start()
	b.Init()
	m := b.Call("session/load", w.LoadParams(s))
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	if got := currentValues(t, m.Result); got["model"] != "other-model" || got["mode"] != "plan" || got["legacy mode"] != "plan" {
		t.Errorf("loaded with %v", got)
	}
	b.Prompt(s, "D:SAY x")
	if got := w.Model.Requests()[0].Model; got != "other-model" {
		t.Errorf("the model asked for is %s", got)
	}
}

// currentValues reads the options of a new or load result.
func currentValues(t *testing.T, result json.RawMessage) map[string]string {
	t.Helper()
	var r struct {
		Modes struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
		Models struct {
			Current string `json:"currentModelId"`
		} `json:"models"`
		Options []struct {
			ID      string `json:"id"`
			Current string `json:"currentValue"`
		} `json:"configOptions"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"legacy mode": r.Modes.Current, "legacy model": r.Models.Current}
	for _, o := range r.Options {
		values[o.ID] = o.Current
	}
	return values
}

func TestE4LoadIsLinear(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	for range 5 {
		a.Prompt(s, "D:CHUNKS 1000,20")
	}
	a.Quit()
	b := w.Start()
	b.Init()
	begun := time.Now()
	b.Must("session/load", w.LoadParams(s), nil)
	n := len(b.Updates(s, 0))
	t.Logf("%d updates loaded in %v", n, time.Since(begun))
	if n < 5000 {
		t.Errorf("%d updates were replayed", n)
	}
}

// A configuration that is broken while a session is open is told once, to the
// people and to whoever started the process; the session goes on.
func TestConfigurationBrokenWhileRunning(t *testing.T) {
	w := NewWorld(t)
	good, err := os.ReadFile(filepath.Join(w.Home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	a, s := w.Opened()
	const title = "The configuration was changed and cannot be used"
	told := func(from int) int {
		n := 0
		for _, m := range a.Messages()[from:] {
			if strings.Contains(string(m.Params), title) {
				n++
			}
		}
		return n
	}
	a.Prompt(s, "D:SAY one")
	if told(0) != 0 {
		t.Error("a good configuration is complained of")
	}
	for round := range 2 {
		from := a.Lines()
		w.Configure(fmt.Sprintf("[acp\n# %d", round))
		for range 2 {
			if got := a.Prompt(s, "D:SAY two").StopReason(); got != "end_turn" {
				t.Fatal(got)
			}
		}
		if n := told(from); n != 1 {
			t.Errorf("round %d: told %d times\n%s", round, n, a.Transcript())
		}
		w.Configure(string(good))
		a.Prompt(s, "D:SAY three")
	}
	a.Quit()
	if n := strings.Count(a.Stderr(), "config.toml was changed and cannot be used; what it said before stays in force:"); n != 2 {
		t.Errorf("stderr says it %d times:\n%s", n, a.Stderr())
	}
}
