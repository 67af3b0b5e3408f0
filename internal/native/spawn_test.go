package native_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// sessionsOf gives a driver its hub, which is made after it.
type sessionsOf struct{ hub *hub.Hub }

func (s *sessionsOf) Spawn(ctx context.Context, info session.Info, at session.AttachRequest) (session.Attachment, error) {
	return s.hub.Spawn(ctx, info, at)
}

func (s *sessionsOf) Close(ctx context.Context, id string) error { return s.hub.Close(ctx, id) }

// spawn is a directive that starts a subagent with a script of its own.
func spawn(verb, script, more string) string {
	task, _ := json.Marshal(script)
	return fmt.Sprintf(`D:%s spawn_subagent {"task":%s%s}`, verb, task, more)
}

// children are the sessions of a session's subagents, oldest first.
func (w *world) children(parent string) []session.Info {
	w.Helper()
	list, err := hub.Subagents(w.Context(), w.ledger, parent)
	if err != nil {
		w.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// callEnd is how a tool call ended, as clients see it.
type callEnd struct {
	Status  string `json:"status"`
	ID      string `json:"toolCallId"`
	Content []struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"content"`
	RawOutput struct {
		SessionID string `json:"sessionId"`
		Stop      string `json:"stopReason"`
		ToolCalls int    `json:"toolCalls"`
		Error     string `json:"error"`
	} `json:"rawOutput"`
}

func (c callEnd) text() string {
	var b strings.Builder
	for _, part := range c.Content {
		b.WriteString(part.Content.Text)
	}
	return b.String()
}

// ends are the calls that ended, in order.
func ends(t *testing.T, events []session.Event) []callEnd {
	t.Helper()
	var list []callEnd
	for _, e := range events {
		var body struct {
			Update callEnd `json:"update"`
		}
		if e.Kind != session.KindToolUpdate {
			continue
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		if s := body.Update.Status; s == "completed" || s == "failed" {
			list = append(list, body.Update)
		}
	}
	return list
}

// untilUpdate pumps until an update of a call holds a text.
func untilUpdate(c *sessiontest.Client, text string) {
	c.T.Helper()
	c.Until(func(e session.Event) bool {
		return e.Kind == session.KindToolUpdate && strings.Contains(string(e.Body), text)
	})
}

// asked is a permission as a client sees it.
type asked struct {
	id       string
	ToolCall struct {
		ID       string `json:"toolCallId"`
		Title    string `json:"title"`
		Kind     string `json:"kind"`
		RawInput struct {
			Path string `json:"path"`
		} `json:"rawInput"`
	} `json:"toolCall"`
	SessionID string `json:"sessionId"`
	Options   []struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
	} `json:"options"`
}

func (w *world) asked(c *sessiontest.Client) asked {
	w.Helper()
	e := c.UntilKind(session.KindPermission)
	q := asked{id: e.ID}
	if err := json.Unmarshal(e.Body, &q); err != nil {
		w.Fatal(err)
	}
	return q
}

func (w *world) answer(c *sessiontest.Client, q asked, option string) {
	w.Helper()
	v := session.Verdict{Request: q.id, Outcome: session.Selected, Option: option}
	if strings.HasPrefix(option, "reject") {
		v.Outcome = session.Declined
	}
	if ok, err := c.Answer(w.Context(), v); !ok || err != nil {
		w.Fatalf("answer %s: %v %v", option, ok, err)
	}
}

func TestSubagentWorks(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	end := c.Say(spawn("TOOL", "D:SAY first I look\nD:TOOL shell echo hello\nD:SAY it says hello", `,"title":"greet"`) + " ; D:SAY done")
	if end.Stop != session.EndTurn {
		t.Fatalf("ended %+v", end)
	}
	got := ends(t, c.Events)
	if len(got) != 1 || got[0].Status != "completed" || got[0].text() != "it says hello" || got[0].RawOutput.ToolCalls != 1 || got[0].RawOutput.Stop != "end_turn" {
		t.Fatalf("the call ended %+v", got)
	}
	kids := w.children(c.Info().ID)
	if len(kids) != 1 || kids[0].ID != got[0].RawOutput.SessionID || kids[0].Title != "greet" || kids[0].Cwd != w.cwd || kids[0].Owner != "local" || kids[0].Active {
		t.Fatalf("children %+v", kids)
	}
	if !strings.Contains(bodies(c), "- `echo hello`") || !strings.Contains(bodies(c), `"Subagent: greet"`) {
		t.Errorf("its work was not shown:\n%s", bodies(c))
	}
	child := string(w.model.Requests()[1].Body)
	if !strings.Contains(child, "You are a subagent") || strings.Contains(child, `"name":"spawn_subagent"`) || !strings.Contains(child, "Working directory: "+w.cwd) {
		t.Errorf("the subagent was sent %s", child)
	}
	if last := w.messages()[len(w.messages())-1]; !strings.Contains(last.text(), "it says hello") {
		t.Errorf("the model got %s", last.text())
	}
	if parent := string(w.model.Requests()[0].Body); !strings.Contains(parent, `"name":"spawn_subagent"`) || strings.Contains(parent, "You are a subagent") {
		t.Errorf("the parent was sent %s", parent)
	}
}

// TestSubagentIsLoadedLater opens the session of a subagent as a person would:
// it goes on as an ordinary one that spawns nothing.
func TestSubagentIsLoadedLater(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(spawn("TOOL", "D:SAY the answer is 42", ""))
	id := w.children(c.Info().ID)[0].ID
	w.restart()
	k := w.load(id)
	k.Say("D:SAY again")
	if !strings.Contains(k.Transcript(), "the answer is 42") || len(w.messages()) != 3 {
		t.Errorf("%d messages\n%s", len(w.messages()), k.Transcript())
	}
	if system, tools := w.request(); slices.Contains(tools, "spawn_subagent") || strings.Contains(system, "You are a subagent") {
		t.Errorf("tools %v", tools)
	}
}

func TestSubagentAsksThroughItsParent(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send(spawn("TOOL", "D:TOOL write a.txt x\nD:TOOL write b.txt x\nD:SAY written", `,"title":"files"`) + "\nD:TOOL write c.txt x")
	call := c.UntilKind(session.KindToolCall)
	q := w.asked(c)
	if !strings.Contains(string(call.Body), q.ToolCall.ID) || q.SessionID != c.Info().ID || q.ToolCall.Kind != "edit" || q.ToolCall.RawInput.Path != "a.txt" {
		t.Errorf("asked %+v of call %s", q, call.Body)
	}
	if !strings.HasPrefix(q.ToolCall.Title, `Subagent "files": `) || !strings.Contains(q.Options[1].Name, "(this subagent only)") {
		t.Errorf("asked %+v", q)
	}
	w.answer(c, q, "allow-always")
	// The grant is the subagent's: b.txt is not asked about, the parent's c.txt is.
	if q = w.asked(c); strings.Contains(q.ToolCall.Title, "Subagent") || q.ToolCall.RawInput.Path != "c.txt" {
		t.Errorf("asked %+v", q)
	}
	w.answer(c, q, "reject-once")
	c.End(p.Turn)
	for name, want := range map[string]bool{"a.txt": true, "b.txt": true, "c.txt": false} {
		if _, err := os.Stat(filepath.Join(w.cwd, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if kid := w.children(c.Info().ID)[0]; len(kid.Grants) == 0 || len(c.Info().Grants) != 0 {
		t.Errorf("grants %s, of the parent %s", kid.Grants, c.Info().Grants)
	}
	// The request's title does not stay on the call.
	if title := titleOf(t, c.Events, q.ToolCall.ID); strings.Contains(title, "Subagent \"") {
		t.Errorf("title %q", title)
	}
}

// titleOf is the title a call has in the end.
func titleOf(t *testing.T, events []session.Event, call string) (title string) {
	t.Helper()
	for _, e := range events {
		var body struct {
			Update struct {
				ID    string `json:"toolCallId"`
				Title string `json:"title"`
			} `json:"update"`
		}
		if json.Unmarshal(e.Body, &body) == nil && body.Update.ID == call && body.Update.Title != "" {
			title = body.Update.Title
		}
	}
	return title
}

func TestParentsGrantsHoldForItsSubagents(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send("D:TOOL write a.txt x ; " + spawn("TOOL", "D:TOOL write b.txt x", ""))
	w.answer(c, w.asked(c), "allow-always")
	c.End(p.Turn)
	if _, err := os.Stat(filepath.Join(w.cwd, "b.txt")); err != nil {
		t.Error(err)
	}
	c.Say("/approvals revoke all")
	p = c.Send(spawn("TOOL", "D:TOOL write c.txt x", ""))
	w.answer(c, w.asked(c), "reject-once")
	c.End(p.Turn)
	if _, err := os.Stat(filepath.Join(w.cwd, "c.txt")); err == nil {
		t.Error("a grant that was taken back still held")
	}
}

func TestSubagentIsRefused(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send(spawn("TOOL", "D:TOOL write a.txt x\nD:SAY I was refused", ""))
	w.answer(c, w.asked(c), "reject-once")
	c.End(p.Turn)
	var results []string
	for _, r := range w.model.Requests() {
		results = append(results, string(r.Body))
	}
	if all := strings.Join(results, "\n"); !strings.Contains(all, "the user said no to this call") {
		t.Error("the subagent was not told that it was a person's no")
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "a.txt")); err == nil {
		t.Error("it was written")
	}
}

func TestNobodyAnswersASubagent(t *testing.T) {
	w := newWorld(t)
	a, err := w.hub.Create(t.Context(), hub.NewSession{Owner: "local", Agent: "main", Cwd: w.cwd, Attach: session.AttachRequest{Role: session.Prompter}})
	if err != nil {
		t.Fatal(err)
	}
	c := sessiontest.Pump(t, a)
	c.Say(spawn("TOOL", "D:TOOL write a.txt x", ""))
	told := false
	for _, r := range w.model.Requests() {
		told = told || strings.Contains(string(r.Body), "nobody who could answer is attached")
	}
	if !told {
		t.Error("the subagent was not told why")
	}
}

func TestSubagentsQuestionIsItsParents(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send(spawn("TOOL", `D:TOOL ask_user {"question":"Which colour?"}`+"\nD:SAY thanks", `,"title":"paint"`))
	e := c.UntilKind(session.KindElicitation)
	var q struct {
		Message   string `json:"message"`
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(e.Body, &q); err != nil || q.Message != `Subagent "paint" asks: Which colour?` || q.SessionID != c.Info().ID {
		t.Errorf("asked %+v %v", q, err)
	}
	v := session.Verdict{Request: e.ID, Outcome: session.Accepted, Content: []byte(`{"answer":"red"}`)}
	if ok, err := c.Answer(t.Context(), v); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c.End(p.Turn)
	if got := string(w.model.Requests()[2].Body); !strings.Contains(got, "the answer is: red") {
		t.Errorf("the subagent got %s", got)
	}
}

func TestSubagentsWorkBesideEachOther(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	var calls []string
	for i := range 6 {
		calls = append(calls, spawn("ALSO", fmt.Sprintf("D:TOOL write f%d.txt x\nD:SAY wrote %d", i, i), ""))
	}
	p := c.Send(strings.Join(calls, "\n"))
	// Each asks, so four are at work when four questions are open; two wait.
	var open []asked
	for range 4 {
		open = append(open, w.asked(c))
	}
	if kids := w.children(c.Info().ID); len(kids) != 4 {
		t.Errorf("%d subagents at a time", len(kids))
	}
	for range 2 {
		w.answer(c, open[0], "allow-once")
		open = append(open[1:], w.asked(c))
	}
	for _, q := range open {
		w.answer(c, q, "allow-once")
	}
	c.End(p.Turn)
	got := ends(t, c.Events)
	if len(got) != 6 {
		t.Fatalf("%d calls ended", len(got))
	}
	for _, e := range got {
		if e.Status != "completed" || !strings.HasPrefix(e.text(), "wrote ") {
			t.Errorf("ended %+v", e)
		}
	}
	for i := range 6 {
		if _, err := os.Stat(filepath.Join(w.cwd, fmt.Sprintf("f%d.txt", i))); err != nil {
			t.Error(err)
		}
	}
}

func TestCancelEndsSubagents(t *testing.T) {
	w := newWorld(t)
	w.agent.Policy.AllowedCommands = []string{"sleep"}
	c := w.open()
	p := c.Send(spawn("ALSO", "D:TOOL shell sleep 600", "") + "\n" + spawn("ALSO", "D:TOOL write x.txt y", "") + "\n" + spawn("ALSO", "D:STALL", ""))
	asks, sleeps := false, false
	c.Until(func(e session.Event) bool {
		asks = asks || e.Kind == session.KindPermission
		sleeps = sleeps || e.Kind == session.KindToolUpdate && strings.Contains(string(e.Body), "sleep 600`")
		return asks && sleeps
	})
	if err := c.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		t.Errorf("ended %+v", end)
	}
	for _, e := range ends(t, c.Events) {
		if e.Status != "failed" {
			t.Errorf("call %+v", e)
		}
	}
	for _, kid := range w.children(c.Info().ID) {
		k := w.load(kid.ID)
		k.CatchUp(k.Start())
		if text := k.Transcript(); strings.Contains(text, "completed") {
			t.Errorf("subagent:\n%s", text)
		}
		if s, err := w.hub.Status(t.Context(), kid.ID); err != nil || s.Running {
			t.Errorf("%+v %v", s, err)
		}
	}
	if end := c.Say("D:SAY alive"); end.Stop != session.EndTurn {
		t.Errorf("afterwards %+v", end)
	}
}

func TestModeOfTheParentHoldsForItsSubagents(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	p := c.Send(spawn("TOOL", "D:TOOL write a.txt x\nD:TOOL write b.txt x\nD:SAY end", ""))
	w.asked(c)
	if _, err := c.Set(t.Context(), "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := os.Stat(filepath.Join(w.cwd, name)); err == nil {
			t.Errorf("%s was written in plan mode", name)
		}
	}
	if _, err := c.Set(t.Context(), "mode", "accept-edits"); err != nil {
		t.Fatal(err)
	}
	c.Say(spawn("TOOL", "D:TOOL write c.txt x", "") + "\n" + spawn("TOOL", "D:TOOL write d.txt x", `,"mode":"plan"`))
	if _, err := os.Stat(filepath.Join(w.cwd, "c.txt")); err != nil {
		t.Error("accept-edits does not hold for the subagent:", err)
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "d.txt")); err == nil {
		t.Error("a subagent that plans wrote")
	}
}

func TestSubagentSharesTheParentsBudget(t *testing.T) {
	w := newWorld(t)
	w.agent.MaxActionsPerHour = 1
	w.agent.Policy.AutoApprove = []string{"file_write"}
	c := w.open()
	c.Say(spawn("TOOL", "D:TOOL write a.txt x", "") + "\nD:TOOL write b.txt x")
	if _, err := os.Stat(filepath.Join(w.cwd, "a.txt")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "b.txt")); err == nil {
		t.Error("the subagent's action did not count")
	}
}

func TestSubagentsTools(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(spawn("TOOL", "D:TOOL shell echo x", `,"tools":["file_read","list_dir"]`) + "\n" + spawn("TOOL", "D:SAY x", `,"tools":["no_such"]`))
	var body struct {
		Tools []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(w.model.Requests()[1].Body, &body); err != nil || len(body.Tools) != 2 {
		t.Errorf("tools %v %v", body.Tools, err)
	}
	got := ends(t, c.Events)
	if len(got) != 2 || got[1].Status != "failed" || !strings.Contains(got[1].text(), `no tool named "no_such"`) {
		t.Errorf("calls %+v", got)
	}
}

func TestSubagentsCostIsTheParents(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	total := func(end session.TurnEnd) int {
		var u struct {
			Total int `json:"totalTokens"`
		}
		if err := json.Unmarshal(end.Usage, &u); err != nil {
			t.Fatal(err)
		}
		return u.Total
	}
	spent := total(c.Say(spawn("TOOL", "D:TOOL shell echo x\nD:SAY y", "") + "\nD:SAY z"))
	k := w.load(w.children(c.Info().ID)[0].ID)
	theirs := total(k.Say("D:SAY w"))
	if theirs <= 0 || spent <= theirs {
		t.Errorf("the parent used %d, its subagent %d", spent, theirs)
	}
	if err := w.hub.Close(t.Context(), c.Info().ID); err != nil {
		t.Fatal(err)
	}
	w.restart()
	c = w.load(c.Info().ID)
	if again := total(c.Say("/usage")); again != spent {
		t.Errorf("after a restart it used %d, not %d", again, spent)
	}
}

func TestSubagentThatFails(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(spawn("TOOL", "D:HTTP 400", "") + "\n" + spawn("TOOL", "D:EMPTY", "") + "\n" + spawn("TOOL", `D:TOOL spawn_subagent {"task":"x"}`+"\nD:SAY no", ""))
	got := ends(t, c.Events)
	if len(got) != 3 || got[0].Status != "failed" || !strings.HasPrefix(got[0].RawOutput.Error, "the subagent failed: ") || got[0].RawOutput.SessionID == "" {
		t.Errorf("calls %+v", got)
	}
	if got[1].Status != "completed" || !strings.Contains(got[1].text(), "empty answer") || got[2].text() != "no" {
		t.Errorf("calls %+v", got)
	}
}

func TestDeletingASessionDeletesItsSubagents(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(spawn("TOOL", "D:SAY x", ""))
	p := c.Send(spawn("TOOL", "D:STALL", ""))
	untilUpdate(c, "in_progress")
	if err := w.hub.Delete(t.Context(), c.Info().ID); err != nil {
		t.Fatal(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		t.Errorf("ended %+v", end)
	}
	left, _, err := w.hub.List(t.Context(), session.Filter{Subagents: true}, "", 10)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v %v", left, err)
	}
}
