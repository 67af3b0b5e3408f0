package native_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
	"github.com/grapnel-ai/grapnel/internal/tool"
	"github.com/grapnel-ai/grapnel/internal/web"
)

// recorded is a world with an audit log.
func recorded(t *testing.T) (w *world, dir string) {
	w = newWorld(t)
	dir = t.TempDir()
	w.audit = audit.New(audit.Options{Dir: dir})
	w.restart()
	return w, dir
}

// records are the lines of a log in short.
func records(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := audit.Read(dir, func(l audit.Line) error {
		e := l.Entry
		if l.Err != nil || e.Owner != "local" || e.Session == "" || e.Agent != "main" {
			t.Errorf("line %s, %v", l.Text, l.Err)
		}
		by, _, _ := strings.Cut(e.By, " ")
		list = append(list, strings.Join(strings.Fields(strings.Join([]string{string(e.Event), e.Tool, filepath.Base(e.What), e.Verdict, by, e.Outcome}, " ")), " "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func answer(t *testing.T, c *sessiontest.Client, option string, outcome session.Outcome) {
	t.Helper()
	req := c.UntilKind(session.KindPermission)
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: outcome, Option: option}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatActsIsRecorded(t *testing.T) {
	w, dir := recorded(t)
	w.write("a.txt", "a")
	c := w.open()
	c.Say("D:TOOL read a.txt ; D:TOOL read ../../../../etc/passwd ; D:SAY done")
	for _, choice := range []struct {
		option  string
		outcome session.Outcome
	}{{"allow-once", session.Selected}, {"reject-once", session.Selected}, {"allow-always", session.Selected}} {
		p := c.Send("D:TOOL write x.txt y ; D:SAY done")
		answer(t, c, choice.option, choice.outcome)
		c.End(p.Turn)
	}
	c.Say("D:TOOL write x.txt z ; D:SAY done")
	if _, err := c.Set(t.Context(), "mode", "plan"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:TOOL write x.txt z ; D:SAY done")
	c.Say("/approvals revoke all")
	want := []string{
		"call file_read passwd deny policy",
		"call file_write x.txt allow person", "result file_write x.txt completed",
		"call file_write x.txt deny person",
		"grant x", "call file_write x.txt allow person", "result file_write x.txt completed",
		"call file_write x.txt allow policy", "result file_write x.txt completed",
		"option mode = plan",
		"call file_write x.txt deny policy",
		"revoke x",
	}
	got := records(t, dir)
	for i := range got {
		if event, _, _ := strings.Cut(got[i], " "); event == "grant" || event == "revoke" {
			got[i] = event + " x" // its words are the policy's
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if r, err := audit.Verify(dir); err != nil || !r.Intact {
		t.Errorf("%+v, %v", r, err)
	}
}

// What is fetched leaves this machine: an address can carry what was read.
func TestFetchIsRecorded(t *testing.T) {
	w, dir := recorded(t)
	w.agent.Policy.Network = policy.NetworkAllow
	w.agent.Tools = w.agent.Tools.With(tool.WebFetch(web.New(web.Options{})))
	w.restart()
	w.open().Say(`D:TOOL web_fetch {"url":"http://127.0.0.1:1/secret"} ; D:SAY done`)
	if diff := cmp.Diff([]string{"call web_fetch secret allow policy"}, records(t, dir)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Nobody to ask is a decision too, and not a person's.
func TestUnansweredRequestIsRecorded(t *testing.T) {
	w, dir := recorded(t)
	c := w.open()
	p := c.Send("D:TOOL write x.txt y ; D:SAY done")
	c.UntilKind(session.KindPermission)
	if err := c.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	if got := records(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], "call file_write x.txt deny") || strings.Contains(got[0], "person") {
		t.Errorf("records %q", got)
	}
}

// An audit log that is slow keeps nobody waiting but who changes the option.
func TestOptionOnSlowRecord(t *testing.T) {
	w := newWorld(t)
	writing, release := make(chan struct{}), make(chan struct{})
	w.audit = audit.New(audit.Options{Dir: t.TempDir(), Now: func() time.Time {
		writing <- struct{}{}
		<-release
		return time.Now()
	}})
	w.restart()
	c := w.open()
	changed, shown := make(chan error), make(chan string)
	go func() {
		_, err := c.Set(t.Context(), "mode", "plan")
		changed <- err
	}()
	<-writing
	go func() { shown <- string(c.Setup().Modes) }()
	select {
	case modes := <-shown:
		if !strings.Contains(modes, `"currentModeId":"ask"`) {
			t.Errorf("before it is on record the mode is %s", modes)
		}
		close(release)
	case <-time.After(10 * time.Second):
		t.Error("what the options are waits for the log")
		close(release)
		<-shown
	}
	if err := <-changed; err != nil {
		t.Fatal(err)
	}
	if got := string(c.Setup().Modes); !strings.Contains(got, `"currentModeId":"plan"`) {
		t.Errorf("the mode is %s", got)
	}
}

// Without a log that can be written nothing acts, and reading goes on.
func TestNothingActsUnrecorded(t *testing.T) {
	w, dir := recorded(t)
	if err := os.Mkdir(filepath.Join(dir, audit.FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("a.txt", "the text of a")
	c := w.open()
	p := c.Send("D:TOOL read a.txt ; D:TOOL write x.txt y ; D:SAY done")
	answer(t, c, "allow-once", session.Selected)
	c.End(p.Turn)
	if _, err := os.Stat(filepath.Join(w.cwd, "x.txt")); err == nil {
		t.Error("the file was written")
	}
	var results []string
	for _, m := range w.messages() {
		if m.Role == "tool" {
			results = append(results, m.text())
		}
	}
	if len(results) != 2 || !strings.Contains(results[0], "the text of a") || !strings.Contains(results[1], "not run: the audit log "+dir) {
		t.Errorf("results %q", results)
	}
	if _, err := c.Set(t.Context(), "mode", "plan"); err == nil {
		t.Error("the mode was changed unrecorded")
	}
}
