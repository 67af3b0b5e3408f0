package native_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// requests is how many requests the model got.
func (w *world) requests() int { return len(w.model.Requests()) }

// current are the values of the options, by id.
func current(t *testing.T, s session.Setup) map[string]string {
	t.Helper()
	var list []struct {
		ID      string `json:"id"`
		Current string `json:"currentValue"`
	}
	if err := json.Unmarshal(s.ConfigOptions, &list); err != nil {
		t.Fatal(err)
	}
	now := make(map[string]string)
	for _, o := range list {
		now[o.ID] = o.Current
	}
	return now
}

// Commands answer while the model is at work, and what they change holds.
func TestCommandsBesideATurn(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	id := c.Info().ID
	running := c.Send("D:SAY begun ; D:STALL")
	c.UntilText("begun")
	waiting := c.Send("D:SAY never")
	for _, cmd := range []struct{ text, want string }{
		{"/status", "Now: at work, 1 prompt waiting"},
		{"/help", "`/stop` Stop what runs now"},
		{"/usage", "0 input tokens"},
		{"/model", "fake-model. There is:"},
		{"/model OTHER", "Model is now other-model."},
		{"/model nonesuch", `"nonesuch" is not one of the values.`},
		{"/think", "other-model cannot be told how much to think."},
		{"/mode plan", "Mode is now plan."},
		{"/title My session", `now called "My session"`},
		{"/approvals", "Nothing is always allowed"},
	} {
		before := w.requests()
		end := c.End(c.Send(cmd.text).Turn)
		if got := c.Transcript(); end.Stop != session.EndTurn || !strings.Contains(got, cmd.want) {
			t.Errorf("%s: %+v, want %q in\n%s", cmd.text, end, cmd.want, got)
		}
		if w.requests() != before {
			t.Errorf("%s reached the model", cmd.text)
		}
	}
	stop := c.Send("/stop")
	for _, turn := range []string{running.Turn, waiting.Turn} {
		if end := c.End(turn); end.Stop != session.Cancelled {
			t.Errorf("%s ended with %+v", turn, end)
		}
	}
	if end := c.End(stop.Turn); end.Stop != session.EndTurn {
		t.Errorf("/stop ended with %+v", end)
	}
	c.UntilText("Stopped, and 1 prompt that waited will not run.")
	c.Say("/stop")
	c.UntilText("Nothing is running.")

	if err := w.hub.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.restart()
	again := w.load(id)
	now := current(t, again.Setup())
	if now["model"] != "other-model" || now["mode"] != "plan" || again.Info().Title != "My session" {
		t.Errorf("after a restart: %v, %q", now, again.Info().Title)
	}
	again.CatchUp(again.Start())
	if got := again.Transcript(); !strings.Contains(got, "user: /status\n") || !strings.Contains(got, "Now: at work") {
		t.Errorf("the commands are not replayed:\n%s", got)
	}
}

// Commands need no provider.
func TestCommandsWithoutAProvider(t *testing.T) {
	w := newWorld(t)
	w.agent.Provider = func(context.Context) (model.Provider, error) {
		return nil, &native.LoginError{Err: errors.New("there is no provider")}
	}
	w.agent.Model, w.agent.Models = "", nil
	w.agent.Info = func(string) model.Info { return model.Info{} }
	c := w.open()
	for _, text := range []string{"/help", "/status", "/model", "/think", "/mode", "/usage", "/compact", "/stop", "/reset", "/new", "/title x", "/approvals"} {
		if end := c.Say(text); end.Stop != session.EndTurn {
			t.Errorf("%s: %+v", text, end)
		}
	}
	if end := c.Say("hello"); end.Error == nil {
		t.Errorf("a prompt: %+v", end)
	}
}

// Whoever may not answer for permissions may not do so in advance.
func TestAPrompterDoesNotChangeTheMode(t *testing.T) {
	w := newWorld(t)
	id := w.open().Info().ID
	req := sessiontest.Approver(session.ReplayNone)
	req.Role = session.Prompter
	a, err := w.hub.Attach(t.Context(), id, req)
	if err != nil {
		t.Fatal(err)
	}
	c := sessiontest.Pump(t, a)
	c.Say("/mode full")
	c.UntilText("The mode is not yours to change")
	running := c.Send("D:STALL")
	c.End(c.Send("/mode full").Turn)
	if got := current(t, c.Setup())["mode"]; got != "ask" {
		t.Errorf("the mode is %s", got)
	}
	c.End(c.Send("/model other-model").Turn)
	for option, value := range map[string]string{"tool_output": "off", "usage": "off", "model": "fake-model"} {
		if _, err := c.Set(t.Context(), option, value); err != nil {
			t.Errorf("%s: %v", option, err)
		}
	}
	if _, err := c.Set(t.Context(), "elevated", "off"); !errors.Is(err, session.ErrRole) {
		t.Errorf("elevated: %v", err)
	}
	c.End(c.Send("/stop").Turn)
	if end := c.End(running.Turn); end.Stop != session.Cancelled {
		t.Errorf("it ended with %+v", end)
	}
}

// What was said before a reset does not reach the model again, in this process
// or the next; people keep it.
func TestReset(t *testing.T) {
	for _, command := range []string{"/reset", "/new"} {
		w := newWorld(t)
		c := w.open()
		id := c.Info().ID
		c.Say("D:SAY the secret word is swordfish")
		c.Say(command)
		c.UntilText("the model does not know of it any more")
		forgotten := func() {
			t.Helper()
			for _, m := range w.messages() {
				if strings.Contains(m.text(), "swordfish") {
					t.Errorf("%s: the model still gets %q", command, m.text())
				}
			}
		}
		c.Say("D:SAY second")
		forgotten()
		if title := c.Info().Title; (title == "D:SAY second") != (command == "/new") {
			t.Errorf("%s: the title is %q", command, title)
		}
		if err := w.hub.Close(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		w.restart()
		again := w.load(id)
		again.Say("D:SAY third")
		forgotten()
		if m := w.messages(); len(m) != 3 {
			t.Errorf("%s: %d messages after a restart", command, len(m))
		}
		if got := again.Transcript(); !strings.Contains(got, "swordfish") {
			t.Errorf("%s: people lost it:\n%s", command, got)
		}
	}
}

func TestReasoningIsHidden(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	if _, offered := current(t, c.Setup())["reasoning"]; offered {
		t.Error("offered for a model that is not known to think")
	}
	c.Say("D:THINK deep ; D:SAY one")
	if got := c.Transcript(); !strings.Contains(got, "thought: deep") {
		t.Errorf("no thought: %s", got)
	}
	if now := current(t, c.Setup())["reasoning"]; now != "shown" {
		t.Errorf("after it has thought: %q", now)
	}
	if _, err := c.Set(t.Context(), "reasoning", "hidden"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:THINK hidden words ; D:SAY two")
	if got := c.Transcript(); strings.Contains(got, "hidden words") || !strings.Contains(got, "agent: two") {
		t.Errorf("got %s", got)
	}
}

func TestToolOutput(t *testing.T) {
	long := strings.Repeat("line of text\n", 200)
	w := newWorld(t)
	w.put(w.cwd, "long.txt", long)
	c := w.open()
	shownIn := func(value string) string {
		t.Helper()
		if _, err := c.Set(t.Context(), "tool_output", value); err != nil {
			t.Fatal(err)
		}
		before := len(c.Events)
		c.Say("D:TOOL shell cat long.txt ; D:SAY done")
		var b strings.Builder
		for _, e := range c.Events[before:] {
			if e.Kind == session.KindToolUpdate {
				b.Write(e.Body)
			}
		}
		m := w.messages()
		if got := m[len(m)-1].text(); strings.Count(got, "line of text") < 50 {
			t.Errorf("%s: the model gets %d lines", value, strings.Count(got, "line of text"))
		}
		return b.String()
	}
	if got := shownIn("full"); strings.Count(got, "line of text") < 100 {
		t.Errorf("in full: %.300s", got)
	}
	if got := shownIn("short"); strings.Count(got, "line of text") > 40 || !strings.Contains(got, "bytes more]") {
		t.Errorf("in short: %.300s", got)
	}
	got := shownIn("off")
	if strings.Contains(got, "line of text") || !strings.Contains(got, "completed") {
		t.Errorf("off: %.300s", got)
	}
	c.Say("D:TOOL shell cat nonesuch.txt ; D:SAY done")
	if got := bodies(c); !strings.Contains(got, "No such file") {
		t.Errorf("the failure is not shown: %s", got)
	}
}

func TestElevatedOff(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	if _, err := c.Set(t.Context(), "elevated", "off"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:TOOL write a.txt x ; D:SAY done")
	if got := bodies(c); !strings.Contains(got, "option elevated is off") || strings.Contains(got, "allow-once") {
		t.Errorf("got %s", got)
	}
	if _, err := os.Stat(filepath.Join(w.cwd, "a.txt")); err == nil {
		t.Error("it was written all the same")
	}
	if _, err := c.Set(t.Context(), "elevated", "ask"); err != nil {
		t.Fatal(err)
	}
	p := c.Send("D:TOOL write b.txt x ; D:SAY done")
	c.UntilKind(session.KindPermission)
	if _, err := c.Set(t.Context(), "elevated", "off"); err != nil { // what is asked just now is refused too
		t.Fatal(err)
	}
	c.End(p.Turn)
	if _, err := os.Stat(filepath.Join(w.cwd, "b.txt")); err == nil {
		t.Error("b.txt was written all the same")
	}
}

// usage are the usage updates a client got.
func usage(c *sessiontest.Client) (list []string) {
	for _, e := range c.Events {
		if e.Kind == session.KindUsage {
			list = append(list, string(e.Body))
		}
	}
	return list
}

func TestUsageAndCost(t *testing.T) {
	w := newWorld(t)
	inner := w.agent.Info
	w.agent.Info = func(id string) model.Info {
		info := inner(id)
		info.Price = &price.Price{Currency: "EUR", Input: 100_000, Output: 300_000}
		return info
	}
	c := w.open()
	if c.Setup().Usage != nil {
		t.Errorf("a session with no past has used %s", c.Setup().Usage)
	}
	for range 3 {
		c.Say("D:SAY hello")
	}
	list := usage(c)
	if len(list) != 3 || !strings.Contains(list[2], `"currency":"EUR"`) {
		t.Fatalf("updates %v", list)
	}
	c.Say("/usage")
	if got := c.Transcript(); !strings.Contains(got, "EUR") {
		t.Errorf("got %s", got)
	}
	id := c.Info().ID
	for option, want := range map[string]string{"tokens": `"used":`, "off": ""} {
		if _, err := c.Set(t.Context(), "usage", option); err != nil {
			t.Fatal(err)
		}
		before := len(usage(c))
		c.Say("D:SAY more")
		list := usage(c)[before:]
		if len(list) > 0 && strings.Contains(list[0], "cost") || len(list) > 0 != (want != "") {
			t.Errorf("%s: %v", option, list)
		}
	}
	if _, err := c.Set(t.Context(), "usage", "full"); err != nil {
		t.Fatal(err)
	}
	if err := w.hub.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	w.restart()
	if got := string(w.load(id).Setup().Usage); !strings.Contains(got, `"currency":"EUR"`) || !strings.Contains(got, `"sessionUpdate":"usage_update"`) {
		t.Errorf("after a restart: %s", got)
	}
}
