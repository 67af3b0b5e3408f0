package native_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// ceilings opens a world of agents at level full in which bob's own sessions
// only read, and carol's ask.
func ceilings(t *testing.T) *world {
	w := newWorld(t)
	w.agent.Policy = policy.Settings{Level: policy.Full, MaxMode: policy.ModeFull}
	w.rights = func(owner string) policy.Rights {
		return map[string]policy.Rights{"bob": {Level: policy.ReadOnly}, "carol": {Level: policy.Supervised}}[owner]
	}
	w.restart()
	return w
}

// joins lets an owner into the session of local's.
func (w *world) joins(owner, id string, role session.Role) *sessiontest.Client {
	w.Helper()
	change := session.ShareChange{Share: session.Share{Owner: owner, Role: role}}
	if err := w.hub.Of("local").Share(w.Context(), id, change); err != nil {
		w.Fatal(err)
	}
	a, err := w.hub.Of(owner).Attach(w.Context(), id, sessiontest.Approver(session.ReplayNone))
	if err != nil {
		w.Fatal(err)
	}
	return sessiontest.Pump(w.T, a)
}

func (w *world) wrote(name string) bool {
	w.Helper()
	_, err := os.Stat(filepath.Join(w.cwd, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Fatal(err)
	}
	return err == nil
}

// A turn may do what the session's owner and who prompted it both may, for each
// by itself.
func TestTurnHasTheRightsOfWhoPrompts(t *testing.T) {
	w := ceilings(t)
	c := w.open()
	b := w.joins("bob", c.Info().ID, session.Approver)
	b.Say("D:TOOL write bob.txt x")
	b.Say("D:TOOL shell touch shell.txt")
	b.Say(spawn("TOOL", "D:TOOL write sub.txt x", ""))
	c.Say("D:TOOL write local.txt x")
	for _, tt := range []struct {
		name string
		want bool
	}{{"bob.txt", false}, {"shell.txt", false}, {"sub.txt", false}, {"local.txt", true}} {
		if got := w.wrote(tt.name); got != tt.want {
			t.Errorf("%s written: %t", tt.name, got)
		}
	}
}

// What a turn starts may do no more than the turn.
func TestSubagentHasTheRightsOfWhoPrompts(t *testing.T) {
	w := ceilings(t)
	c := w.open()
	k := w.joins("carol", c.Info().ID, session.Approver)
	p := k.Send(spawn("TOOL", "D:TOOL write sub.txt x", ""))
	e := k.Until(func(e session.Event) bool { return e.Kind == session.KindPermission || e.Kind == session.KindTurnEnd })
	if e.Kind == session.KindTurnEnd {
		t.Fatal("the turn ended unasked")
	}
	if _, err := k.Answer(t.Context(), session.Verdict{Request: e.ID, Outcome: session.Selected, Option: "reject-once"}); err != nil {
		t.Fatal(err)
	}
	k.End(p.Turn)
	if w.wrote("sub.txt") {
		t.Error("a file was written against a no")
	}
	c.Say(spawn("TOOL", "D:TOOL write sub.txt x", ""))
	if !w.wrote("sub.txt") {
		t.Error("the owner's own subagent wrote nothing")
	}
}

// A prompt that waits for its turn is its prompter's all the same.
func TestQueuedPromptKeepsItsPrompter(t *testing.T) {
	w := ceilings(t)
	c := w.open()
	b := w.joins("bob", c.Info().ID, session.Prompter)
	first := c.Send("D:STALL")
	c.UntilKind(session.KindTurnStart)
	second := b.Send("D:TOOL write bob.txt x")
	third := c.Send("D:TOOL write local.txt x")
	if !second.Queued || !third.Queued {
		t.Fatalf("not queued: %+v, %+v", second, third)
	}
	if err := c.CancelTurn(t.Context(), first.Turn); err != nil {
		t.Fatal(err)
	}
	c.End(third.Turn)
	if w.wrote("bob.txt") || !w.wrote("local.txt") {
		t.Errorf("bob's was written: %t, local's: %t", w.wrote("bob.txt"), w.wrote("local.txt"))
	}
}

// Words that are added to a turn bound it from where the model sees them.
func TestSteeringBoundsTheTurn(t *testing.T) {
	w := ceilings(t)
	c := w.open()
	if _, err := c.Set(t.Context(), session.OptionMode, "ask"); err != nil {
		t.Fatal(err)
	}
	b := w.joins("bob", c.Info().ID, session.Prompter)
	p := c.Send("D:TOOL write before.txt x")
	c.UntilKind(session.KindPermission)
	if how, _, err := b.Steer(t.Context(), sessiontest.Blocks("D:TOOL write after.txt x")); err != nil || how != session.Injected {
		t.Fatalf("steer: %s, %v", how, err)
	}
	if _, err := c.Set(t.Context(), session.OptionMode, "full"); err != nil { // which answers the question
		t.Fatal(err)
	}
	c.End(p.Turn)
	if !w.wrote("before.txt") || w.wrote("after.txt") {
		t.Errorf("written before: %t, after: %t", w.wrote("before.txt"), w.wrote("after.txt"))
	}
}

// Nobody sets a session to what their own could not be.
func TestOptionsBeyondOwnRights(t *testing.T) {
	w := ceilings(t)
	c := w.open()
	b := w.joins("bob", c.Info().ID, session.Approver)
	for _, s := range []struct {
		option, value string
		ok            bool
	}{
		{session.OptionMode, "plan", true},
		{session.OptionMode, "full", false},
		{session.OptionMode, "accept-edits", false},
		{session.OptionElevated, "off", true},
		{session.OptionElevated, "ask", false},
		{session.OptionModel, "other-model", true},
	} {
		_, err := b.Set(t.Context(), s.option, s.value)
		if _, invalid := errors.AsType[*session.InvalidError](err); invalid == s.ok || !invalid && err != nil {
			t.Errorf("bob sets %s to %s: %v", s.option, s.value, err)
		}
	}
	b.Say("/mode full")
	c.Say("D:TOOL write plan.txt x")
	if w.wrote("plan.txt") {
		t.Error("bob's command has changed the mode")
	}
	if _, err := c.Set(t.Context(), session.OptionMode, "full"); err != nil {
		t.Error(err)
	}
}
