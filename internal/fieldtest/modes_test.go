package fieldtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// setMode sets the mode the way old clients do.
func (a *Agent) setMode(s, mode string) {
	a.t.Helper()
	a.Must("session/set_mode", object{"sessionId": s, "modeId": mode}, nil)
}

// setOption sets a config option and returns the values that hold then.
func (a *Agent) setOption(t *testing.T, s, option, value string) map[string]string {
	t.Helper()
	m := a.Call("session/set_config_option", object{"sessionId": s, "configId": option, "value": value})
	if m.Error != nil {
		t.Fatalf("set %s to %s: %+v", option, value, m.Error)
	}
	return currentValues(t, m.Result)
}

// M1: whatever opens a session says the same of modes, models and options, and
// all of it agrees.
func TestM1EveryOpeningTellsTheSame(t *testing.T) {
	w := thinkingWorld(t, "claude-sonnet-4-6", "other-model")
	a, s := w.Opened()
	a.setMode(s, "plan")
	want := map[string]string{
		"mode": "plan", "legacy mode": "plan", "model": "claude-sonnet-4-6", "legacy model": "claude-sonnet-4-6",
	}
	for option, value := range map[string]string{
		"thought_level": "high", "tool_output": "short", "reasoning": "hidden", "usage": "tokens", "elevated": "off",
	} {
		a.setOption(t, s, option, value)
		want[option] = value
	}
	check := func(a *Agent, how string) {
		t.Helper()
		m := a.Call("session/"+how, w.LoadParams(s))
		if m.Error != nil {
			t.Fatal(m.Error)
		}
		if diff := cmp.Diff(want, currentValues(t, m.Result)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", how, diff)
		}
		requireOfferedAlike(t, m.Result)
	}
	check(a, "load")
	check(a, "resume")
	a.Quit()
	b := w.Start()
	b.Init()
	check(b, "resume")
	check(b, "load")
	fresh := b.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}})
	requireOfferedAlike(t, fresh.Result)
	if got := currentValues(t, fresh.Result); got["mode"] != "ask" || got["thought_level"] != "default" {
		t.Errorf("a new session starts with %v", got)
	}
}

// requireOfferedAlike compares the values of the options with what the legacy
// lists offer.
func requireOfferedAlike(t *testing.T, result json.RawMessage) {
	t.Helper()
	var r struct {
		Modes struct {
			List []struct{ ID, Name string } `json:"availableModes"`
		}
		Models struct {
			List []struct {
				ID   string `json:"modelId"`
				Name string
			} `json:"availableModels"`
		}
		Options []struct {
			ID      string
			Options []struct{ Value, Name string }
		} `json:"configOptions"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	legacy := map[string][]string{}
	for _, m := range r.Modes.List {
		legacy["mode"] = append(legacy["mode"], m.ID+"="+m.Name)
	}
	for _, m := range r.Models.List {
		legacy["model"] = append(legacy["model"], m.ID+"="+m.Name)
	}
	offered := map[string][]string{}
	for _, o := range r.Options {
		for _, v := range o.Options {
			offered[o.ID] = append(offered[o.ID], v.Value+"="+v.Name)
		}
	}
	maps.DeleteFunc(offered, func(id string, _ []string) bool { return id != "mode" && id != "model" }) // the rest has no legacy form
	if diff := cmp.Diff(legacy, offered); diff != "" || len(legacy["mode"]) < 3 {
		t.Errorf("legacy lists and options (-legacy +options)\n%s", diff)
	}
}

// Whoever sets an option, and however, every client of the session hears of it
// in both forms.
func TestOptionsReachEveryClient(t *testing.T) {
	w := thinkingWorld(t, "claude-sonnet-4-6", "other-model")
	a, s := w.Opened()
	b := w.Start()
	b.Init()
	if m := b.Call("session/load", w.LoadParams(s)); m.Error != nil {
		t.Fatal(m.Error)
	}
	for _, c := range []struct {
		by          *Agent
		method      string
		params      object
		option, is  string
		alsoAsAMode bool
	}{
		{a, "set_mode", object{"modeId": "plan"}, "mode", "plan", true},
		{b, "set_config_option", object{"configId": "mode", "value": "accept-edits"}, "mode", "accept-edits", true},
		{b, "set_mode", object{"modeId": "ask"}, "mode", "ask", true},
		{b, "set_model", object{"modelId": "other-model"}, "model", "other-model", false},
		{a, "set_config_option", object{"configId": "model", "value": "claude-sonnet-4-6"}, "model", "claude-sonnet-4-6", false},
		{a, "set_config_option", object{"configId": "thought_level", "value": "low"}, "thought_level", "low", false},
	} {
		from := map[*Agent]int{a: a.Lines(), b: b.Lines()}
		c.params["sessionId"] = s
		c.by.Must("session/"+c.method, c.params, nil)
		for _, client := range []*Agent{a, b} {
			client.AwaitUpdate(s, from[client], "config_option_update", func(u Update) bool {
				return u.Kind == "config_option_update" && optionsIn(t, u)[c.option] == c.is
			})
			if c.alsoAsAMode {
				client.AwaitUpdate(s, from[client], "current_mode_update", func(u Update) bool {
					return u.Kind == "current_mode_update" && string(u.Raw["currentModeId"]) == quote(c.is)
				})
			}
		}
	}
}

func optionsIn(t *testing.T, u Update) map[string]string {
	t.Helper()
	return currentValues(t, json.RawMessage(`{"configOptions":`+string(u.Raw["configOptions"])+`}`))
}

// A mode is effective at once, also for what is being asked just now.
func TestModeSettlesWhatIsAsked(t *testing.T) {
	for mode, wantFile := range map[string]bool{"plan": false, "accept-edits": true} {
		t.Run(mode, func(t *testing.T) {
			w := NewWorld(t)
			a, s := w.Opened()
			id := a.BeginPrompt(s, "D:TOOL write one.txt x ; D:TOOL write two.txt x ; D:SAY over")
			p := a.AwaitPermission(0)
			a.setMode(s, mode)
			a.Await(p.Line, "the withdrawal", func(m Message) bool { return m.Method == "$/cancel_request" })
			a.Choose(p, "allow_once") // too late
			if got := a.Response(id).StopReason(); got != "end_turn" || a.Said(s, 0) != "over" {
				t.Errorf("the turn ended with %s and said %q", got, a.Said(s, 0))
			}
			if n := len(a.permissions()); n != 1 {
				t.Errorf("%d permissions were asked, want the one", n)
			}
			for _, name := range []string{"one.txt", "two.txt"} {
				if got := fileSize(filepath.Join(w.Cwd, name)) > 0; got != wantFile {
					t.Errorf("%s written: %v, want %v", name, got, wantFile)
				}
			}
			refused := hasUpdate(a.Updates(s, 0), func(u Update) bool {
				return u.Status == "failed" && strings.Contains(string(u.Raw["content"]), "mode plan")
			})
			if refused == wantFile {
				t.Errorf("refused by the mode: %v", refused)
			}
		})
	}
}

// A mode that still asks leaves the question alone.
func TestModeLeavesAQuestionOpen(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `always_ask = ["shell"]`)
	a, s := w.Opened()
	a.setMode(s, "accept-edits")
	id := a.BeginPrompt(s, "D:TOOL shell echo x > made")
	p := a.AwaitPermission(0)
	a.setMode(s, "ask")
	a.setMode(s, "accept-edits")
	a.Choose(p, "allow_once")
	if got := a.Response(id).StopReason(); got != "end_turn" || fileSize(filepath.Join(w.Cwd, "made")) == 0 {
		t.Errorf("%s; the command ran: %v", got, fileSize(filepath.Join(w.Cwd, "made")) > 0)
	}
	if n := len(a.permissions()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// permissions are the permission requests so far.
func (a *Agent) permissions() (list []Message) {
	for _, m := range a.Messages() {
		if m.Method == "session/request_permission" {
			list = append(list, m)
		}
	}
	return list
}

// S18: options hold over compaction and a restart after it.
func TestS18OptionsSurviveCompaction(t *testing.T) {
	w := thinkingWorld(t, "claude-sonnet-4-6", "other-model")
	a, s := w.Opened()
	a.setMode(s, "plan")
	a.setOption(t, s, "thought_level", "low")
	a.Prompt(s, "D:SAY something to remember")
	if got := a.Prompt(s, "/compact").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	for range 2 {
		m := a.Call("session/load", w.LoadParams(s))
		if got := currentValues(t, m.Result); got["mode"] != "plan" || got["thought_level"] != "low" {
			t.Errorf("after compaction: %v", got)
		}
		from := a.Lines()
		a.Prompt(s, "D:TOOL write x.txt x")
		if !hasUpdate(a.Updates(s, from), func(u Update) bool { return u.Status == "failed" }) || fileSize(filepath.Join(w.Cwd, "x.txt")) > 0 {
			t.Error("plan mode let a write through")
		}
		a.Quit()
		a = w.Start()
		a.Init()
	}
}

// When the level is narrowed between two starts, a mode it no longer has falls
// back to the level's own, and people are told once.
func TestNarrowedLevelTakesTheModeBack(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `level = "full"`)
	a, s := w.Opened()
	a.setMode(s, "full")
	a.Quit()
	for _, step := range []struct {
		level, mode string
		told        bool
	}{
		{"supervised", "ask", true}, {"supervised", "ask", false}, {"readonly", "plan", true}, {"full", "full", false},
	} {
		w.Configure(fmt.Sprintf("[autonomy]\nlevel = %q\n%s", step.level, fakeProvider(w)))
		a := w.Start()
		a.initNotices()
		m := a.Call("session/load", w.LoadParams(s))
		if got := currentValues(t, m.Result); got["mode"] != step.mode || got["legacy mode"] != step.mode {
			t.Errorf("level %s: %v, want %s", step.level, got, step.mode)
		}
		requireModes(t, m.Result, step.level)
		from := a.Lines()
		a.Prompt(s, "D:SAY x")
		told := hasUpdate(a.Updates(s, from), func(u Update) bool { return strings.Contains(u.Title, "choice is gone") })
		if told != step.told {
			t.Errorf("level %s: told %v, want %v", step.level, told, step.told)
		}
		a.Quit()
	}
}

func requireModes(t *testing.T, result json.RawMessage, level string) {
	t.Helper()
	var r struct {
		Modes struct {
			List []struct{ ID string } `json:"availableModes"`
		}
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Modes.List {
		got = append(got, m.ID)
	}
	slices.Sort(got)
	want := map[string][]string{
		"full": {"accept-edits", "ask", "full", "plan"}, "supervised": {"accept-edits", "ask", "plan"}, "readonly": {"plan"},
	}[level]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("level %s (-want +got)\n%s", level, diff)
	}
}

func fakeProvider(w *World) string {
	return fmt.Sprintf("[providers.fake]\nkind = \"openai-chat\"\nbase_url = \"%s/v1\"\napi_key = \"sk-fake\"\nmodel = \"fake-model\"\n[agents.main]\nprovider = \"fake\"\n", w.URL)
}

// Accept-edits lets edits inside the roots through, and nothing that the
// configuration keeps for people or that makes other programs run.
func TestAcceptEditsStopsWhereItMust(t *testing.T) {
	const flows, asks, denied = "flows", "asks", "denied"
	w := NewWorld(t)
	forbidden := filepath.Join(w.Cwd, "secret")
	w.Configure(fmt.Sprintf("[autonomy]\nalways_ask = [\"file_write(guarded/**)\"]\nforbidden_paths = [%q]\n%s", forbidden, fakeProvider(w)))
	a, s := w.Opened()
	a.setMode(s, "accept-edits")
	outside := filepath.Join(realDir(t, t.TempDir()), "x")
	for path, want := range map[string]string{
		"plain.txt":                 flows,
		"src/deep/main.go":          flows,
		"AGENTS.md":                 flows,
		"guarded/x":                 asks,
		"secret/x":                  denied,
		outside:                     denied,
		"../x":                      denied,
		".git/hooks/pre-commit":     asks,
		"sub/.git/config":           asks,
		".bashrc":                   asks,
		".config/fish/config.fish":  asks,
		".envrc":                    asks,
		".vscode/tasks.json":        asks,
		".github/workflows/ci.yml":  asks,
		".gitlab-ci.yml":            asks,
		"docs/github/workflows.txt": flows,
	} {
		from := a.Lines()
		id := a.BeginPrompt(s, "D:TOOL write "+path+" x")
		m := a.Await(from, "an end or a question", func(m Message) bool {
			return m.Method == "session/request_permission" || string(m.ID) == id && m.Method == ""
		})
		got := flows
		if m.Method != "" {
			got = asks
			a.Choose(a.AwaitPermission(from), "reject_once")
			a.Response(id)
		} else if hasUpdate(a.Updates(s, from), func(u Update) bool { return u.Status == "failed" }) {
			got = denied
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// thinkingWorld has agents on one provider that speaks Messages, the first of
// them the default, with these models.
func thinkingWorld(t *testing.T, models ...string) *World {
	w := NewWorld(t)
	w.Configure(thinkingConfig(w, "anthropic", w.URL, models...))
	return w
}

func thinkingConfig(w *World, kind, url string, models ...string) string {
	text := fmt.Sprintf("[acp]\ndefault_agent = \"a0\"\n[providers.fake]\nkind = %q\nbase_url = %q\napi_key = \"sk-fake\"\ncontext_window = 100000\n", kind, url)
	for i, m := range models {
		text += fmt.Sprintf("[agents.a%d]\nprovider = \"fake\"\nmodel = %q\n", i, m)
	}
	return text
}

// A level of thinking waits for a model that has it.
func TestThoughtLevelFollowsTheModel(t *testing.T) {
	w := thinkingWorld(t, "claude-sonnet-4-6", "other-model")
	a := w.Start()
	a.initNotices()
	s := a.New()
	sent := func() string {
		a.Prompt(s, "D:SAY x")
		reqs := w.Model.Requests()
		return string(reqs[len(reqs)-1].Body)
	}
	a.setOption(t, s, "thought_level", "high")
	if body := sent(); !strings.Contains(body, `"effort":"high"`) {
		t.Errorf("the level is not sent: %.300s", body)
	}
	from := a.Lines()
	if got := a.setOption(t, s, "model", "other-model"); got["thought_level"] != "" {
		t.Errorf("a model that does not think offers %v", got)
	}
	a.AwaitUpdate(s, from, "a word about thinking", func(u Update) bool { return u.Kind == "notice" && strings.Contains(u.Title, "Thinking") })
	if body := sent(); strings.Contains(body, "effort") {
		t.Errorf("a level is sent to a model without: %.300s", body)
	}
	if m := a.Call("session/set_config_option", object{"sessionId": s, "configId": "thought_level", "value": "low"}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a level is set with a model without: %s", m.Result)
	}
	a.Quit()
	a = w.Start()
	a.Init()
	a.Must("session/load", w.LoadParams(s), nil)
	if got := a.setOption(t, s, "model", "claude-sonnet-4-6"); got["thought_level"] != "high" {
		t.Errorf("back at a model that thinks: %v", got)
	}
	if body := sent(); !strings.Contains(body, `"effort":"high"`) {
		t.Errorf("the level is not sent again: %.300s", body)
	}
}

// What one provider signed or encrypted never goes to another, nor to another
// model; it goes back to its own.
func TestThinkingStaysWithItsModel(t *testing.T) {
	const signature = "c2lnbmVkIGJ5IHRoZSBmYWtl"
	w := thinkingWorld(t, "claude-sonnet-4-6", "claude-opus-4-6")
	a, s := w.Opened()
	body := func() string {
		if got := a.Prompt(s, "D:SAY on").StopReason(); got != "end_turn" {
			t.Error(got)
		}
		reqs := w.Model.Requests()
		return string(reqs[len(reqs)-1].Body)
	}
	reopen := func(config string) {
		a.Quit()
		w.Configure(config)
		a = w.Start()
		a.Init()
		a.Must("session/load", w.LoadParams(s), nil)
	}
	a.Prompt(s, "D:THINK deep thought ; D:TOOL list_dir {} ; D:SAY thought")
	if !strings.Contains(body(), signature) {
		t.Error("its own model does not get its thinking back")
	}
	a.setOption(t, s, "model", "claude-opus-4-6")
	if strings.Contains(body(), signature) {
		t.Error("another model gets the signature")
	}
	for _, kind := range []string{"openai", "openai-chat"} {
		reopen(thinkingConfig(w, kind, w.URL+"/v1", "gpt-5.4"))
		got := body()
		if strings.Contains(got, signature) {
			t.Errorf("%s gets a signature of Anthropic's", kind)
		}
		if !strings.Contains(got, "list_dir") || !strings.Contains(got, "thought") {
			t.Errorf("%s does not get the conversation: %.500s", kind, got)
		}
	}
	reopen(thinkingConfig(w, "anthropic", w.URL, "claude-sonnet-4-6", "claude-opus-4-6"))
	a.setOption(t, s, "model", "claude-sonnet-4-6")
	if !strings.Contains(body(), signature) {
		t.Error("back at its model, the thinking is lost")
	}
}

// M3: a model that the provider does not have fails the turn in words, and the
// session goes on with another.
func TestM3AModelThatFailsIsNoEnd(t *testing.T) {
	w := thinkingWorld(t, "claude-sonnet-4-6", "other-model")
	a, s := w.Opened()
	a.setOption(t, s, "model", "other-model")
	if got := a.Prompt(s, "D:HTTP 404").StopReason(); !strings.HasPrefix(got, "error ") {
		t.Errorf("the turn ended with %s", got)
	}
	for _, bad := range []string{"", "no-such-model", "OTHER-MODEL"} {
		for method, params := range map[string]object{
			"set_model": {"modelId": bad}, "set_config_option": {"configId": "model", "value": bad},
		} {
			params = maps.Clone(params)
			params["sessionId"] = s
			if m := a.Call("session/"+method, params); m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("%s %q: %s %+v", method, bad, m.Result, m.Error)
			}
		}
	}
	a.setOption(t, s, "model", "claude-sonnet-4-6")
	if got := a.Prompt(s, "D:SAY on").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}
