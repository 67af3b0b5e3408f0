package fieldtest

import (
	"encoding/json"
	"strings"
	"testing"
)

// asks runs a prompt and reports whether its call was asked about; the question
// is answered with an option of the kind.
func (a *Agent) asks(s, prompt, kind string) bool {
	a.t.Helper()
	from := a.Lines()
	id := a.BeginPrompt(s, prompt)
	m := a.Await(from, "a request or the end", func(m Message) bool {
		return m.Method == "session/request_permission" || string(m.ID) == id && m.Method == ""
	})
	if m.Method == "" {
		return false
	}
	a.Choose(a.AwaitPermission(from), kind)
	a.Response(id)
	return true
}

// TestP1ApprovalsAreTakenBackFromOutside: another process lists what is always
// allowed and takes it back; the running session asks again at once, and so does
// the next process.
func TestP1ApprovalsAreTakenBackFromOutside(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	for _, command := range []string{"mkdir -p d", "mkdir -p e"} {
		if !a.asks(s, "D:TOOL shell "+command, "allow_always") || a.asks(s, "D:TOOL shell "+command, "reject_once") {
			t.Fatalf("%s was not asked about once", command)
		}
	}
	out, _, code := w.Run("session", "grants", s)
	if code != 0 || !strings.HasPrefix(out, "1  Always allow `mkdir -p d` in this session, started in "+w.Cwd+"\n2  Always allow `mkdir -p e`") {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	if out, complaint, code := w.Run("session", "grants", s, "--revoke", "1"); code != 0 || !strings.HasPrefix(out, "taken back: Always allow `mkdir -p d`") {
		t.Fatalf("exit %d: %s%s", code, out, complaint)
	}
	if !a.asks(s, "D:TOOL shell mkdir -p d", "reject_once") {
		t.Error("what was taken back runs unasked")
	}
	if a.asks(s, "D:TOOL shell mkdir -p e", "reject_once") {
		t.Error("what was not taken back is asked about")
	}
	out, _, _ = w.Run("session", "grants", s, "--json")
	var rows []struct {
		Number  int
		Pattern string
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 1 || rows[0].Pattern != "mkdir -p e" || rows[0].Number != 1 {
		t.Errorf("%v: %s", err, out)
	}
	if _, complaint, code := w.Run("session", "grants", s, "--revoke", "2"); code != 1 || !strings.Contains(complaint, "the session has no approval 2; it has 1") {
		t.Errorf("exit %d: %s", code, complaint)
	}
	a.Quit()
	if _, complaint, code := w.Run("session", "grants", s, "--revoke", "all"); code != 0 {
		t.Fatalf("of a session that is not active: %s", complaint)
	}
	if out, _, _ := w.Run("audit", "export", "--session", s); !strings.Contains(out, `"what":"Always allow `+"`mkdir -p e`"+` in this session, started in `) || !strings.Contains(out, `"by":"command line"`) {
		t.Errorf("the session's record does not have it:\n%s", out)
	}
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if !b.asks(s, "D:TOOL shell mkdir -p e", "reject_once") {
		t.Error("what was taken back while nothing ran is allowed again")
	}
}

// TestApprovalsTakenBackDuringATurn: what is taken back does not hold for the
// turn's next call.
func TestApprovalsTakenBackDuringATurn(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	if !a.asks(s, "D:TOOL shell mkdir -p d", "allow_always") {
		t.Fatal("it was not asked about")
	}
	from := a.Lines()
	id := a.BeginPrompt(s, "D:TOOL shell touch wait ; D:TOOL shell mkdir -p d")
	p := a.AwaitPermission(from) // the turn waits here
	if _, complaint, code := w.Run("session", "grants", s, "--revoke", "all"); code != 0 {
		t.Fatal(complaint)
	}
	a.Choose(p, "reject_once")
	again := a.AwaitPermission(p.Line + 1)
	if !strings.Contains(again.ToolCall.Title, "mkdir -p d") {
		t.Errorf("asked about %q", again.ToolCall.Title)
	}
	a.Choose(again, "reject_once")
	a.Response(id)
}
