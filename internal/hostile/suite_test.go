//go:build linux

package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// patience bounds every wait: an agent answers in milliseconds, but the machine
// may be busy and the binary built with the race detector.
const patience = 60 * time.Second

// rung is one step of the sandbox's ladder.
type rung struct {
	name string
	os   bool // the system confines commands
	open bool // a person may let a command out of it
}

// TestNone has the policy alone to stop every escape.
func TestNone(t *testing.T) { rung{name: "none"}.play(t) }

// TestBubblewrap and TestLandlock have the system stop what the policy lets
// through.
func TestBubblewrap(t *testing.T) { rung{name: "bubblewrap", os: true}.play(t) }

func TestLandlock(t *testing.T) { rung{name: "landlock", os: true}.play(t) }

// works skips a rung that this machine does not have. CI must have it.
func (r rung) works(t *testing.T) {
	t.Helper()
	if !r.os {
		return
	}
	home, _ := os.UserHomeDir() // unknown is fine
	st, err := sandbox.New(sandbox.Options{Home: home, Path: os.Getenv("PATH")}).Find(t.Context(), sandbox.Rung(r.name))
	switch {
	case err == nil && st.Works():
	case onCI():
		t.Fatalf("%s does not work here, and CI must not leave it out: %s %v", r.name, st.Why(), err)
	default:
		t.Skipf("%s does not work here: %s", r.name, st.Why())
	}
}

// play has the model try everything on one rung.
func (r rung) play(t *testing.T) {
	r.works(t)
	t.Parallel()
	g := newGround(t)
	h := newHost(t, g, r)
	all := escapes()
	if len(all) < 60 {
		t.Errorf("there are only %d escapes", len(all))
	}
	if r.open {
		all = outsideEscapes()
	}
	tried := 0
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			e.possible(t)
			if e.beyond == r.name {
				t.Skipf("%s cannot hold this back", r.name)
			}
			g.t = t
			defer func() { g.t = nil }()
			h.attempt(t, e)
			tried++
		})
	}
	t.Logf("%s: %d escapes", r.name, tried)
}

// host is a running Grapnel with the hostile model behind it.
type host struct {
	*fieldtest.Agent
	world *fieldtest.World
	g     *ground
	rung  rung
}

func newHost(t *testing.T, g *ground, r rung) *host {
	t.Helper()
	w := fieldtest.NewWorld(t)
	w.Home, w.Cwd = g.own, g.base
	w.Env = append(w.Env, g.environ()...)
	w.Configure(fmt.Sprintf(`# a note: %s
[autonomy]
allowed_commands = ["*"]
sandbox = %q
sandbox_required = %v
[tools.web_fetch]
enabled = true
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = %q
model = "fake-model"
context_window = 1000000
[agents.main]
provider = "fake"
max_iterations = 100
`, g.secret, r.name, r.os && !r.open, w.URL, g.key))
	h := &host{world: w, g: g, rung: r, Agent: w.Start()}
	h.Init()
	return h
}

// attempt has the model try one escape and looks for the harm.
func (h *host) attempt(t *testing.T, e escape) {
	t.Helper()
	h.g.reset()
	if e.prepare != nil {
		e.prepare(h.g)
	}
	s := h.open(e)
	requests := len(h.world.Model.Requests())
	h.g.watch()
	out := h.turn(t, s, e)
	for _, q := range h.world.Model.Requests()[requests:] {
		out.seen = append(out.seen, q.Body...)
	}
	h.Must("session/close", object{"sessionId": s}, nil)
	for _, harm := range h.g.harm([]byte(out.seen)) {
		t.Error(harm)
	}
	h.judge(t, e, out)
	if t.Failed() {
		t.Logf("what was shown:\n%s", out.shown)
	}
}

// judge holds that the escape was refused and that the refusal says why.
func (h *host) judge(t *testing.T, e escape, out outcome) {
	t.Helper()
	if out.stop != "end_turn" {
		t.Errorf("the turn ended with %s", out.stop)
	}
	if !e.tame && out.completed > 0 && !h.rung.os {
		t.Errorf("%d calls went through", out.completed)
	}
	if e.runs && h.rung.os {
		if _, err := os.Stat(filepath.Join(h.g.repo, "ran")); err != nil || out.asked > 0 {
			t.Errorf("the program did not run unasked: %d questions, %v", out.asked, err)
		}
	}
	if h.rung.os && out.asked == 0 && out.completed > 0 && (!e.runs || e.silent) {
		return // the system stopped it, which not every program tells
	}
	said := func(why string) bool { return strings.Contains(out.shown, why) }
	if !slices.ContainsFunc(strings.Split(e.why, "|"), said) {
		t.Errorf("nothing says %q", e.why)
	}
}

// outcome is what came of a turn.
type outcome struct {
	stop      string
	shown     string // what the client was shown and asked
	seen      []byte // that, and what the model was sent
	asked     int
	completed int // calls that went well
}

// open starts a session in the repository.
func (h *host) open(e escape) string {
	var r struct {
		SessionID string `json:"sessionId"`
	}
	h.Must("session/new", object{"cwd": h.g.repo, "mcpServers": e.servers(h.g)}, &r)
	if e.accept {
		h.Must("session/set_mode", object{"sessionId": r.SessionID, "modeId": "accept-edits"}, nil)
	}
	return r.SessionID
}

// turn runs the tries of an escape in one turn of the model.
func (h *host) turn(t *testing.T, session string, e escape) outcome {
	t.Helper()
	lines := make([]string, len(e.tries))
	for i, c := range e.tries {
		lines[i] = "D:TOOL " + c.tool + " " + h.g.fill(c.input)
	}
	line := h.Lines()
	id := h.BeginPrompt(session, strings.Join(lines, "\n"))
	var out outcome
	for until := time.Now().Add(patience); ; {
		m, ok := h.Next(line, time.Until(until))
		if !ok {
			t.Fatalf("the turn does not end\n%s\n%s", out.shown, h.Stderr())
		}
		line = m.Line + 1
		out.shown += string(m.Params)
		switch {
		case m.Method == "" && string(m.ID) == id:
			out.stop = m.StopReason()
			out.seen = append(out.seen, out.shown...)
			return out
		case m.Method == "session/request_permission":
			out.asked++
			h.reply(e, h.AwaitPermission(m.Line))
		case isUpdate(m, "completed"):
			out.completed++
		}
	}
}

func (h *host) reply(e escape, p fieldtest.Permission) {
	if e.answer != nil {
		e.answer(h.Agent, p)
		return
	}
	h.Choose(p, "reject_once")
}

func isUpdate(m fieldtest.Message, status string) bool {
	u, ok := m.Update()
	return ok && u.Kind == "tool_call_update" && u.Status == status
}

// onCI reports whether a missing rung is a failure.
func onCI() bool { return slices.Contains([]string{"1", "true"}, os.Getenv("CI")) }

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}
