package native_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// points answers by its fields and notes the points a call came to.
type points struct {
	before     func(hook.Call, policy.Decision) (string, error)
	permission func(hook.Call) (hook.Answer, error)
	settled    func(hook.Settled) error
	after      func(hook.Result) error
	finalize   func(hook.Final) (string, error)

	mu   sync.Mutex
	seen []string
}

func (p *points) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, what)
}

func (p *points) BeforeTool(_ context.Context, c hook.Call, d policy.Decision) (string, error) {
	p.note("before " + c.Tool + " " + d.Verdict.String())
	if p.before == nil {
		return "", nil
	}
	return p.before(c, d)
}

func (p *points) Permission(_ context.Context, c hook.Call, _ policy.Decision) (hook.Answer, error) {
	p.note("permission " + c.Tool)
	if p.permission == nil {
		return hook.Answer{Verdict: policy.Ask}, nil
	}
	return p.permission(c)
}

func (p *points) Settled(_ context.Context, c hook.Call, s hook.Settled) error {
	p.note("settled " + c.Tool + " " + s.Verdict.String() + " by " + s.By)
	if p.settled == nil {
		return nil
	}
	return p.settled(s)
}

func (p *points) AfterTool(_ context.Context, c hook.Call, r hook.Result) error {
	p.note("after " + c.Tool)
	if p.after == nil {
		return nil
	}
	return p.after(r)
}

func (p *points) BeforeFinalize(_ context.Context, f hook.Final) (string, error) {
	p.note("finalize " + f.Text)
	if p.finalize == nil {
		return "", nil
	}
	return p.finalize(f)
}

// TestPointsOfACall: which points a call comes to, and in which order, by what
// policy makes of it.
func TestPointsOfACall(t *testing.T) {
	yes := func(hook.Call) (hook.Answer, error) { return hook.Answer{Verdict: policy.Allow, Reason: "ci"}, nil }
	no := func(hook.Call) (hook.Answer, error) { return hook.Answer{Verdict: policy.Deny, Reason: "frozen"}, nil }
	failing := func(hook.Call) (hook.Answer, error) {
		return hook.Answer{Verdict: policy.Allow}, errors.New("the pager is off")
	}
	block := func(hook.Call, policy.Decision) (string, error) { return "not today", nil }
	broken := func(hook.Call, policy.Decision) (string, error) {
		return "", errors.New("the hook failed (exit code 3)")
	}
	tests := []struct {
		name, call string
		points     *points
		answer     string // what a person answers; "" when nobody may be asked
		seen       []string
		ran        bool
		said       string // in the result or a notice
	}{
		{"allowed", "shell echo x", &points{}, "", []string{"before shell allow", "settled shell allow by policy", "after shell"}, true, ""},
		{"refused by policy", "shell rm -rf x", &points{permission: yes}, "", []string{"settled shell deny by policy"}, false, "not allowed by policy"},
		{"blocked", "shell echo x", &points{before: block}, "", []string{"before shell allow", "settled shell deny by hook"}, false, "blocked by a hook: not today"},
		{"blocked before anybody is asked", "shell touch x", &points{before: block, permission: yes}, "", []string{"before shell ask", "settled shell deny by hook"}, false, "not today"},
		{"a guard that fails", "shell echo x", &points{before: broken}, "", []string{"before shell allow", "settled shell deny by hook"}, false, "not run: the hook failed (exit code 3)"},
		{"answered yes", "shell touch x", &points{permission: yes}, "", []string{"before shell ask", "permission shell", "settled shell allow by hook", "after shell"}, true, ""},
		{"answered no", "shell touch x", &points{permission: no}, "", []string{"before shell ask", "permission shell", "settled shell deny by hook"}, false, "a hook said no to this call: frozen"},
		{"an answer that fails is none", "shell touch x", &points{permission: failing}, "reject-once", nil, false, "the pager is off"},
		{"left to people", "shell touch x", &points{}, "allow-once", nil, true, ""},
		{"cannot be put on record", "shell echo x", &points{settled: func(s hook.Settled) error { return errors.New("the log is full") }}, "", nil, false, "not run: the log is full"},
		{"told when it cannot look", "shell echo x", &points{after: func(hook.Result) error { return errors.New("the watcher fell over") }}, "", nil, true, "the watcher fell over"},
		{"cannot be prepared", "file_read ", &points{}, "", []string{"settled file_read deny by nobody"}, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.agent.Points = tt.points
			c := w.open()
			p := c.Send("D:TOOL " + tt.call)
			if tt.answer != "" {
				req := c.UntilKind(session.KindPermission)
				if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: outcomeOf(tt.answer), Option: tt.answer}); err != nil {
					t.Fatal(err)
				}
			}
			c.End(p.Turn)
			if tt.answer == "" && hasKind(c, session.KindPermission) {
				t.Errorf("people were asked:\n%s", c.Transcript())
			}
			if ran := strings.Contains(bodies(c), `"status":"completed"`); ran != tt.ran {
				t.Errorf("ran: %v\n%s", ran, bodies(c))
			}
			if !strings.Contains(bodies(c), tt.said) {
				t.Errorf("nobody says %q:\n%s", tt.said, bodies(c))
			}
			if tt.seen != nil {
				want := append(tt.seen, "finalize "+lastWords(tt.points))
				if diff := cmp.Diff(want, tt.points.seen); diff != "" {
					t.Errorf("points (-want +got)\n%s", diff)
				}
			}
		})
	}
}

func outcomeOf(option string) session.Outcome {
	if strings.HasPrefix(option, "reject") {
		return session.Declined
	}
	return session.Selected
}

// lastWords is what the model ended the turn with, as the last point was told.
func lastWords(p *points) string {
	last := p.seen[len(p.seen)-1]
	return strings.TrimPrefix(last, "finalize ")
}

func hasKind(c *sessiontest.Client, k session.Kind) bool {
	for _, e := range c.Events {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// TestOneMorePass: a hook may send the model back to work, once a turn.
func TestOneMorePass(t *testing.T) {
	w := newWorld(t)
	p := &points{finalize: func(hook.Final) (string, error) { return "D:SAY checked", nil }}
	w.agent.Points = p
	c := w.open()
	c.Say("D:SAY done")
	if got := c.Transcript(); !strings.Contains(got, "done") || !strings.Contains(got, "checked") {
		t.Errorf("it went on to\n%s", got)
	}
	if diff := cmp.Diff([]string{"finalize done"}, p.seen); diff != "" {
		t.Errorf("points (-want +got)\n%s", diff)
	}
	if !strings.Contains(bodies(c), "A hook asks for one more pass") {
		t.Error("nobody is told why it goes on")
	}
	c.Say("D:SAY next")
	if len(p.seen) != 2 {
		t.Errorf("the next turn: %q", p.seen)
	}
}

// TestCeiling: an owner's rights bound a session's modes and what they allow,
// whatever was chosen before.
func TestCeiling(t *testing.T) {
	w := newWorld(t)
	w.agent.Policy.Level = policy.Full
	ceiling := policy.Rights{}
	d := native.New(native.Options{
		Agent:  func(string) (*native.Agent, error) { a := w.agent; return &a, nil },
		Rights: func(string) policy.Rights { return ceiling },
	})
	w.hub = hub.New(hub.Options{Ledger: w.ledger, Drivers: func(string) (session.Driver, error) { return d, nil }})
	c := w.open()
	id := c.Info().ID
	if _, err := c.Set(t.Context(), "mode", "full"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:TOOL shell touch one")
	if err := w.hub.Close(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	ceiling = policy.Rights{Level: policy.Supervised}
	c = w.load(id)
	if got := string(c.Setup().Modes); strings.Contains(got, `"full"`) {
		t.Errorf("it offers more than the ceiling: %s", got)
	}
	if _, err := c.Set(t.Context(), "mode", "full"); err == nil {
		t.Error("it takes a mode beyond the ceiling")
	}
	p := c.Send("D:TOOL shell touch two")
	req := c.UntilKind(session.KindPermission)
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Declined, Option: "reject-once"}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	for name, want := range map[string]bool{"one": true, "two": false} {
		if _, err := os.Stat(filepath.Join(w.cwd, name)); (err == nil) != want {
			t.Errorf("%s was made: %v", name, err == nil)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := w.hub.Drain(ctx); err != nil {
		t.Error(err)
	}
}
