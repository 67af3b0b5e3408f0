package native_test

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
	"github.com/grapnel-ai/grapnel/internal/model/provider"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// world is a hub with the native driver, a real provider client and a fake
// model behind it on the wire.
type world struct {
	*testing.T
	cwd    string
	model  *fakellm.Server
	agent  native.Agent
	ledger session.Ledger
	hub    *hub.Hub
	now    func() time.Time
	redact *secret.Redactor
	audit  *audit.Log
	rights func(owner string) policy.Rights
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, model: &fakellm.Server{}, ledger: memory.New(), now: time.Now}
	server := httptest.NewServer(w.model)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var err error
	if w.cwd, err = filepath.EvalSymlinks(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	llm, err := provider.New(provider.Config{
		Name: "fake", Kind: provider.OpenAIChat, BaseURL: server.URL + "/v1", Model: "fake-model", ContextWindow: 100_000,
		APIKey: func() (string, error) { return "sk-fake", nil },
		Retry:  model.RetryPolicy{Attempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.agent = native.Agent{
		Alias: "main", Workspace: t.TempDir(), Model: "fake-model", Models: []string{"fake-model", "other-model"},
		Provider:      func(context.Context) (model.Provider, error) { return llm, nil },
		Info:          llm.Info,
		MaxIterations: 10,
		Tools:         tool.NewSet(tool.Default()...),
		Policy:        policy.Settings{Level: policy.Supervised, WorkspaceOnly: true, AllowedCommands: []string{"echo", "cat"}},
	}
	w.restart()
	return w
}

// restart puts a new hub and driver on the ledger, as a new process would.
func (w *world) restart() {
	sessions := new(sessionsOf)
	d := native.New(native.Options{
		Agent:    func(string) (*native.Agent, error) { a := w.agent; return &a, nil },
		Now:      func() time.Time { return w.now() },
		Redact:   w.redact,
		Audit:    w.audit,
		Rights:   w.rights,
		Sessions: sessions,
	})
	h := hub.New(hub.Options{Ledger: w.ledger, Drivers: func(string) (session.Driver, error) { return d, nil }})
	w.hub, sessions.hub = h, h
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := h.Drain(ctx); err != nil {
			w.Errorf("drain: %v", err)
		}
	})
}

func (w *world) open() *sessiontest.Client {
	w.Helper()
	a, err := w.hub.Create(w.Context(), hub.NewSession{
		Owner: "local", Agent: "main", Cwd: w.cwd, Attach: sessiontest.Approver(session.ReplayNone),
	})
	if err != nil {
		w.Fatal(err)
	}
	return sessiontest.Pump(w.T, a)
}

func (w *world) load(id string) *sessiontest.Client {
	w.Helper()
	a, err := w.hub.Attach(w.Context(), id, sessiontest.Approver(session.ReplayHistory))
	if err != nil {
		w.Fatal(err)
	}
	return sessiontest.Pump(w.T, a)
}

// messages are those of the newest request to the model, without the system
// prompt.
func (w *world) messages() []chatMessage {
	w.Helper()
	reqs := w.model.Requests()
	var body struct {
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(reqs[len(reqs)-1].Body, &body); err != nil {
		w.Fatal(err)
	}
	if len(body.Messages) > 0 && body.Messages[0].Role != "user" {
		body.Messages = body.Messages[1:]
	}
	return body.Messages
}

// chatMessage is a message on the wire of Chat Completions.
type chatMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func (m chatMessage) text() string {
	s, _ := json.Marshal(m.Content)
	return string(s)
}

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.cwd, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func TestEveryCallHasOneResultForTheModel(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say("D:REUSEID ; D:TOOL shell echo one")
	c.Say("D:REUSEID ; D:TOOL shell echo two")
	c.Say("D:PAR 3 echo three")
	c.Say("D:BADJSON")
	c.Say("D:SAY end")
	results := make(map[string]int)
	calls := make(map[string]int)
	for _, m := range w.messages() {
		for _, call := range m.ToolCalls {
			calls[call.ID]++
		}
		if m.Role == "tool" {
			results[m.ToolCallID]++
		}
	}
	if len(calls) != 6 || len(results) != 6 {
		t.Errorf("calls %v, results %v", calls, results)
	}
	for id, n := range calls {
		if n != 1 || results[id] != 1 {
			t.Errorf("call %s stands %d times and has %d results", id, n, results[id])
		}
	}
}

func TestHistoryIsTheSameAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "hello\n")
	c := w.open()
	c.Say("D:THINK hm ; D:SAY one ; D:TOOL read a.txt ; D:SAY two")
	c.Say("D:TOOL shell echo x ; D:TOOL no_such_tool {}")
	c.Say("D:SAY last")
	before := w.messages()
	id := c.Info().ID
	if err := w.hub.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.restart()
	c = w.load(id)
	c.Say("D:SAY again")
	after := w.messages()
	if len(after) != len(before)+2 {
		t.Fatalf("%d messages before, %d after", len(before), len(after))
	}
	for i := range before {
		if before[i].text() != after[i].text() || before[i].Role != after[i].Role {
			t.Errorf("message %d: %s %s became %s %s", i, before[i].Role, before[i].text(), after[i].Role, after[i].text())
		}
	}
}

func TestCancelKeepsWhatWasSaid(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send("D:SAY halfway ; D:STALL")
	c.UntilText("halfway")
	if err := c.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		t.Errorf("ended with %+v", end)
	}
	c.Say("D:SAY ok")
	if m := w.messages(); len(m) != 3 || !strings.Contains(m[1].text(), "halfway") {
		t.Errorf("the model sees %v", m)
	}
}

func TestSteeringReachesTheRunningTurn(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send("D:TOOL write x.txt y ; D:SAY done")
	req := c.UntilKind(session.KindPermission)
	outcome, _, err := c.Steer(t.Context(), sessiontest.Blocks("and be quick"))
	if err != nil || outcome != session.Injected {
		t.Fatalf("steer: %s, %v", outcome, err)
	}
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Selected, Option: "reject-once"}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	var seen bool
	for _, m := range w.messages() {
		seen = seen || m.Role == "user" && strings.Contains(m.text(), "and be quick")
	}
	if !seen {
		t.Errorf("the model does not see the steering: %v", w.messages())
	}
}

// What was added to a turn that is cancelled stays part of the conversation.
func TestSteeringOfACancelledTurnIsKept(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send("D:SAY half ; D:STALL")
	c.UntilText("half")
	if outcome, _, err := c.Steer(t.Context(), sessiontest.Blocks("and be quick")); err != nil || outcome != session.Injected {
		t.Fatalf("steer: %s, %v", outcome, err)
	}
	if err := c.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	c.Say("D:SAY ok")
	var said []string
	for _, m := range w.messages() {
		said = append(said, m.text())
	}
	if all := strings.Join(said, " "); !strings.Contains(all, "half") || !strings.Contains(all, "and be quick") {
		t.Errorf("the model sees %s", all)
	}
}

// A file added to a running turn that cannot be kept fails the turn, and leaves
// no tool call without its result.
func TestUnreadableSteeringKeepsResults(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(filepath.Join(w.cwd, "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("hooks", filepath.Join(w.cwd, "uploads")); err != nil {
		t.Skip(err)
	}
	c := w.open()
	p := c.Send("D:TOOL write x.txt y ; D:SAY done")
	req := c.UntilKind(session.KindPermission)
	file := jsontext.Value(`{"type":"resource","resource":{"uri":"file:///f.bin","blob":"aGVsbG8="}}`)
	if outcome, _, err := c.Steer(t.Context(), []jsontext.Value{file}); err != nil || outcome != session.Injected {
		t.Fatalf("steer: %s, %v", outcome, err)
	}
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Selected, Option: "reject-once"}); err != nil {
		t.Fatal(err)
	}
	if end := c.End(p.Turn); end.Error == nil || !strings.Contains(end.Error.Message, "uploads is a link") {
		t.Errorf("ended with %+v", end)
	}
	c.Say("D:SAY ok")
	calls, results := 0, 0
	for _, m := range w.messages() {
		calls += len(m.ToolCalls)
		if m.Role == "tool" {
			results++
		}
	}
	if calls != 1 || results != 1 {
		t.Errorf("the model sees %d calls and %d results", calls, results)
	}
}

func TestMaxIterationsEndsWithWords(t *testing.T) {
	w := newWorld(t)
	w.agent.MaxIterations = 3
	c := w.open()
	end := c.Say("D:LOOP")
	if end.Stop != session.MaxTurnRequests {
		t.Errorf("ended with %+v", end)
	}
	if n := len(w.model.Requests()); n != 4 {
		t.Errorf("%d requests: 3 steps and one for the closing words are due", n)
	}
}

func TestCompactionNearTheWindow(t *testing.T) {
	w := newWorld(t)
	w.agent.Info = func(string) model.Info { return model.Info{ContextWindow: 2000} }
	c := w.open()
	for range 6 {
		c.Say("D:SAY filler\n" + strings.Repeat("word ", 1500))
	}
	var statuses []string
	for _, e := range c.Events {
		if e.Kind == session.KindCompaction {
			var p struct {
				Update struct {
					Status string `json:"status"`
				} `json:"update"`
			}
			if err := json.Unmarshal(e.Body, &p); err != nil {
				t.Fatal(err)
			}
			statuses = append(statuses, p.Update.Status)
		}
	}
	if len(statuses) < 2 || statuses[0] != "in_progress" || statuses[1] != "completed" {
		t.Fatalf("compactions: %v", statuses)
	}
	if m := w.messages(); !strings.Contains(m[0].text(), "Summary of the conversation") || len(m) > 10 {
		t.Errorf("%d messages, the first %.80s", len(m), m[0].text())
	}
	roles := ""
	for _, m := range w.messages() {
		roles += m.Role[:1]
	}
	if strings.Contains(roles, "uu") || strings.Contains(roles, "aa") {
		t.Errorf("roles do not alternate: %s", roles)
	}
}

func TestCommands(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	if got := string(c.Setup().Commands); !strings.Contains(got, `"name":"compact"`) || !strings.Contains(got, `"name":"usage"`) {
		t.Errorf("commands %s", got)
	}
	c.Say("/compact")
	c.UntilText("too short")
	for range 5 {
		c.Say("D:SAY words")
	}
	before := len(w.model.Requests())
	c.Say(" /usage ")
	c.UntilText("input tokens")
	if n := len(w.model.Requests()); n != before {
		t.Errorf("a command reached the model: %d requests", n-before)
	}
	c.Say("/compact")
	c.UntilText("shortened from")
	c.Say("D:SAY on")
	if m := w.messages(); !strings.Contains(m[0].text(), "Summary of the conversation") {
		t.Errorf("the first message is %.80s", m[0].text())
	}
	c.Say("/unknown thing")
	if m := w.messages(); !strings.Contains(m[len(m)-1].text(), "/unknown thing") {
		t.Error("what is no command did not reach the model")
	}
}

// What was always allowed is listed, holds after a restart, and can be taken
// back.
func TestGrantsAreListedAndRevoked(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	id := c.Info().ID
	p := c.Send("D:TOOL write a.txt x ; D:SAY done")
	req := c.UntilKind(session.KindPermission)
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Selected, Option: "allow-always"}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	if err := w.hub.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.restart()
	c = w.load(id)
	c.Say("D:TOOL write b.txt x ; D:SAY done") // nobody is asked
	c.Say("/approvals")
	c.UntilText("1. Always allow `file_write` in " + w.cwd)
	c.Say("/approvals revoke 2")
	c.UntilText("There is no approval \"2\".")
	c.Say("/approvals revoke 1")
	c.UntilText("Taken back: Always allow `file_write`")
	c.Say("/approvals")
	c.UntilText("Nothing is always allowed in this session.")
	p = c.Send("D:TOOL write c.txt x ; D:SAY done")
	req = c.UntilKind(session.KindPermission)
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Selected, Option: "reject-once"}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
}

func TestActionsPerHour(t *testing.T) {
	w := newWorld(t)
	w.agent.MaxActionsPerHour = 2
	w.agent.Policy.AutoApprove = []string{"file_write"}
	now := time.Now()
	w.now = func() time.Time { return now }
	c := w.open()
	for _, name := range []string{"a", "b", "c"} {
		c.Say("D:TOOL write " + name + ".txt x")
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "b.txt")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "c.txt")); err == nil {
		t.Error("a third action went through")
	}
	now = now.Add(time.Hour)
	c.Say("D:TOOL write d.txt x")
	if _, err := os.Stat(filepath.Join(w.cwd, "d.txt")); err != nil {
		t.Error("an hour later nothing goes:", err)
	}
}

func TestSystemPromptHoldsWhatItShould(t *testing.T) {
	w := newWorld(t)
	w.write("AGENTS.md", "Use tabs.\n")
	w.agent.SystemPrompt = "You are a pirate."
	if err := os.WriteFile(filepath.Join(w.agent.Workspace, "SOUL.md"), []byte("Be kind.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.agent.Workspace, "MEMORY.md"), []byte("Secret memory.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.open()
	c.Say("D:SAY x")
	body := string(w.model.Requests()[0].Body)
	for _, want := range []string{"You are a pirate.", "Use tabs.", "Be kind.", "Working directory: " + w.cwd, "Mode: ask"} {
		if !strings.Contains(body, want) {
			t.Errorf("the prompt lacks %q", want)
		}
	}
	if strings.Contains(body, "Secret memory") {
		t.Error("MEMORY.md went into the prompt")
	}
	if _, err := c.Set(t.Context(), "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:SAY x")
	reqs := w.model.Requests()
	if body := string(reqs[len(reqs)-1].Body); !strings.Contains(body, "Mode: plan") {
		t.Error("the mode is not in the prompt")
	}
}

func TestPlanModeRefusesActions(t *testing.T) {
	w := newWorld(t)
	w.agent.Policy.AutoApprove = []string{"file_write", "shell"}
	c := w.open()
	if _, err := c.Set(t.Context(), "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:TOOL write a.txt x ; D:TOOL shell touch b.txt")
	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := os.Stat(filepath.Join(w.cwd, name)); err == nil {
			t.Errorf("%s was made in plan mode", name)
		}
	}
	if strings.Contains(c.Transcript(), "permission") {
		t.Error("plan mode asked")
	}
}

// A call that cannot be prepared is told by what it was meant to do.
func TestBrokenCallsAreNamed(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(`D:TOOL list_dir {"path":"nowhere"} ; D:TOOL file_write {"path":"../a\u0007b","content":""} ; D:TOOL no_such_tool {"path":"x"}`)
	var got []string
	for _, e := range c.Events {
		var shown struct {
			Update struct {
				Title string `json:"title"`
				Kind  string `json:"kind"`
			} `json:"update"`
		}
		if e.Kind != session.KindToolCall {
			continue
		}
		if err := json.Unmarshal(e.Body, &shown); err != nil {
			t.Fatal(err)
		}
		got = append(got, shown.Update.Kind+": "+shown.Update.Title)
	}
	want := []string{"read: list_dir nowhere", "edit: file_write ../ab", "other: no_such_tool"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOwnFilesAreOutOfReach(t *testing.T) {
	w := newWorld(t)
	w.write("config.toml", "api_key = \"sk-secret\"\n")
	w.agent.FSRoots = fsroot.Options{Own: []string{filepath.Join(w.cwd, "config.toml")}}
	c := w.open()
	c.Say("D:TOOL read config.toml ; D:TOOL content_search {\"pattern\":\"secret\"}")
	for _, r := range w.model.Requests() {
		if strings.Contains(string(r.Body), "sk-secret") {
			t.Fatal("the model saw Grapnel's own file")
		}
	}
}
