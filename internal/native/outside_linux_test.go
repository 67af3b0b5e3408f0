package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// boxed is a world whose commands one rung confines, with a program of the
// repository that shows a letter of the user's and the SSH agent's socket.
func boxed(t *testing.T, rung sandbox.Rung) (w *world, log string) {
	t.Helper()
	w, log = recorded(t)
	elsewhere := t.TempDir()
	ladder := sandbox.New(sandbox.Options{Home: elsewhere, Path: os.Getenv("PATH"), Temp: t.TempDir()})
	t.Cleanup(func() { _ = ladder.Close() })
	st, err := ladder.Find(t.Context(), rung)
	switch ci := os.Getenv("CI"); {
	case err == nil && st.Works():
	case ci == "true" || ci == "1":
		t.Fatalf("%s does not work here, and CI must not leave it out: %s %v", rung, st.Why(), err)
	default:
		t.Skipf("%s does not work here: %s", rung, st.Why())
	}
	w.agent.Sandbox, w.agent.Confine = ladder, sandbox.Session{Use: rung, Cache: t.TempDir()}
	t.Setenv("SSH_AUTH_SOCK", "/run/agent-of-the-user")
	letter := filepath.Join(elsewhere, "letter")
	if err := os.WriteFile(letter, []byte("dear user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write("show.sh", "cat "+letter+"\necho \"agent=$SSH_AUTH_SOCK\"\n: > ran\n")
	return w, log
}

func onBothRungs(t *testing.T, test func(*testing.T, sandbox.Rung)) {
	for _, rung := range []sandbox.Rung{sandbox.Bubblewrap, sandbox.Landlock} {
		t.Run(string(rung), func(t *testing.T) { test(t, rung) })
	}
}

const (
	showInside  = `D:TOOL shell {"command":"sh show.sh"}`
	showOutside = `D:TOOL shell {"command":"sh show.sh","outside_sandbox":true}`
)

// TestOutside: with a person's yes to the very call a command runs outside the
// sandbox, and in no other way.
func TestOutside(t *testing.T) {
	yes := func(hook.Call) (hook.Answer, error) { return hook.Answer{Verdict: policy.Allow, Reason: "ci"}, nil }
	no := func(hook.Call) (hook.Answer, error) { return hook.Answer{Verdict: policy.Deny, Reason: "frozen"}, nil }
	once := session.Verdict{Outcome: session.Selected, Option: "allow-once"}
	reject := session.Verdict{Outcome: session.Declined, Option: "reject-once"}
	nobody := session.Verdict{Outcome: session.Withdrawn, Reason: "permission_timeout"}
	tests := []struct {
		name     string
		change   func(*world)
		script   string
		answer   session.Verdict // none where nobody may be asked
		ran      bool
		reads    bool
		said     string
		recorded string // verdict, by, sandbox
	}{
		{"inside it runs unasked", nil, showInside, session.Verdict{}, true, false, "agent=", "allow policy RUNG"},
		{"allowed", nil, showOutside, once, true, true, "agent=/run/agent-of-the-user", "allow person outside"},
		{"rejected", nil, showOutside, reject, false, false, "the user said no", "deny person outside"},
		{"nobody answers", nil, showOutside, nobody, false, false, "nobody gave it", "deny nobody outside"},
		{"a hook allows it", func(w *world) { w.agent.Points = &points{permission: yes} }, showOutside, reject, false, false, "which only a person can", "deny person outside"},
		{"a hook refuses it", func(w *world) { w.agent.Points = &points{permission: no} }, showOutside, session.Verdict{}, false, false, "a hook said no", "deny hook outside"},
		{"every list allows it", func(w *world) {
			w.agent.Policy.AutoApprove, w.agent.Policy.AllowedCommands = []string{"shell", "shell(sh show.sh)"}, []string{"*"}
		}, showOutside, reject, false, false, "the user said no", "deny person outside"},
		{"a sandbox is required", func(w *world) { w.agent.Confine.Required = true }, showOutside, session.Verdict{}, false, false, "autonomy.sandbox_required", "deny policy outside"},
		{"there is to be no network", func(w *world) { w.agent.Policy.Network = policy.NetworkDeny }, showOutside, session.Verdict{}, false, false, "autonomy.network", "deny policy outside"},
		{"a subagent", nil, spawn("TOOL", showOutside, ""), once, true, true, "agent=/run/agent-of-the-user", "allow person outside"},
		{"a subagent, rejected", nil, spawn("TOOL", showOutside, ""), reject, false, false, "Outside the sandbox: ", "deny person outside"},
	}
	onBothRungs(t, func(t *testing.T, rung sandbox.Rung) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				w, log := boxed(t, rung)
				if tt.change != nil {
					tt.change(w)
				}
				c := w.open()
				if _, err := c.Set(t.Context(), "mode", "accept-edits"); err != nil {
					t.Fatal(err)
				}
				p := c.Send(tt.script)
				if tt.answer.Outcome != "" {
					request := c.UntilKind(session.KindPermission)
					isPlain(t, string(request.Body))
					tt.answer.Request = request.ID
					if _, err := c.Answer(t.Context(), tt.answer); err != nil {
						t.Fatal(err)
					}
				}
				c.End(p.Turn)
				if tt.answer.Outcome == "" && hasKind(c, session.KindPermission) {
					t.Error("people were asked")
				}
				_, err := os.Stat(filepath.Join(w.cwd, "ran"))
				shown := bodies(c)
				for _, request := range w.model.Requests() { // those of subagents too
					shown += string(request.Body)
				}
				if (err == nil) != tt.ran || strings.Contains(shown, "dear user") != tt.reads || !strings.Contains(shown, tt.said) {
					t.Errorf("ran: %v, want %q\n%s", err == nil, tt.said, shown)
				}
				if want, got := strings.ReplaceAll(tt.recorded, "RUNG", string(rung)), shellRecord(t, log); got != want {
					t.Errorf("recorded %q, want %q", got, want)
				}
			})
		}
	})
}

// isPlain holds that a request tells what it asks for, and offers nothing for
// good.
func isPlain(t *testing.T, body string) {
	t.Helper()
	for _, part := range []string{"Outside the sandbox: `sh show.sh`", "it runs outside the sandbox, where it reaches what you reach", "sh show.sh"} {
		if !strings.Contains(body, part) {
			t.Errorf("it does not say %q: %s", part, body)
		}
	}
	if strings.Contains(body, "allow_always") {
		t.Errorf("it offers to allow it always: %s", body)
	}
}

// shellRecord is what the log says of the one shell call.
func shellRecord(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := audit.Read(dir, func(l audit.Line) error {
		if e := l.Entry; e.Event == audit.Call && e.Tool == "shell" {
			by, _, _ := strings.Cut(e.By, " ")
			list = append(list, e.Verdict+" "+by+" "+e.Sandbox)
		}
		return l.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, ", ")
}

// TestOutsideAtFull: where nobody is asked, nothing leaves the sandbox.
func TestOutsideAtFull(t *testing.T) {
	w, _ := boxed(t, sandbox.Bubblewrap)
	w.agent.Policy.Level = policy.Full
	c := w.open()
	c.Say(showOutside)
	if shown := bodies(c); !strings.Contains(shown, "in mode full nobody is asked") || hasKind(c, session.KindPermission) {
		t.Errorf("%s", shown)
	}
}

// TestOutsideOfNothing: where nothing confines commands there is nothing to
// leave, and the argument changes nothing.
func TestOutsideOfNothing(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	c.Say(`D:TOOL shell {"command":"echo here","outside_sandbox":true}`)
	if shown := bodies(c); !strings.Contains(shown, "here\\n") || strings.Contains(shown, "Outside the sandbox") || hasKind(c, session.KindPermission) {
		t.Errorf("%s", shown)
	}
}
