package fieldtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// spawn directs the fake model to start a subagent with directions of its own.
func spawn(verb, task string) string {
	return fmt.Sprintf(`D:%s spawn_subagent {"task":%s,"title":"helper"}`, verb, quote(task))
}

// listed are the ids of the sessions that session/list shows.
func (a *Agent) listed(meta object) []string {
	a.t.Helper()
	var r struct {
		Sessions []struct {
			ID string `json:"sessionId"`
		} `json:"sessions"`
	}
	a.Must("session/list", object{"_meta": meta}, &r)
	var ids []string
	for _, s := range r.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// child waits for the id of the one subagent's session.
func (a *Agent) child(parent string) string {
	a.t.Helper()
	for _, id := range a.listed(object{"grapnel": object{"subagents": true}}) {
		if id != parent {
			return id
		}
	}
	a.t.Fatal("no session of a subagent is listed")
	return ""
}

func TestSubagentsInParallel(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	id := a.BeginPrompt(s, spawn("ALSO", "D:TOOL write one.txt 1\nD:SAY one is there")+"\n"+spawn("ALSO", "D:TOOL write two.txt 2\nD:SAY two is there"))
	first := a.AwaitPermission(0)
	second := a.AwaitPermission(first.Line + 1) // both are at work: neither was answered
	if first.SessionID != s || first.ToolCall.ID == second.ToolCall.ID || !strings.HasPrefix(first.ToolCall.Title, `Subagent "helper": `) {
		t.Errorf("asked %+v and %+v", first, second)
	}
	for _, p := range []Permission{first, second} {
		if !hasUpdate(a.Updates(s, 0), func(u Update) bool { return u.Call == p.ToolCall.ID && u.Kind == "tool_call" }) {
			t.Errorf("call %s was not announced", p.ToolCall.ID)
		}
	}
	a.Choose(second, "allow_once")
	a.Choose(first, "allow_once")
	if stop := a.Response(id).StopReason(); stop != "end_turn" {
		t.Errorf("ended %s", stop)
	}
	for _, name := range []string{"one.txt", "two.txt"} {
		if _, err := os.Stat(filepath.Join(w.Cwd, name)); err != nil {
			t.Error(err)
		}
	}
	for _, m := range a.Messages() {
		var p struct {
			SessionID string `json:"sessionId"`
		}
		if json.Unmarshal(m.Params, &p) == nil && p.SessionID != "" && p.SessionID != s {
			t.Errorf("the client heard of a session it does not have: %s", m.Params)
		}
	}
	if ids := a.listed(nil); len(ids) != 1 || ids[0] != s {
		t.Errorf("listed %v", ids)
	}
	if ids := a.listed(object{"grapnel": object{"subagents": true}}); len(ids) != 3 {
		t.Errorf("listed with subagents %v", ids)
	}
	a.Quit()
}

func TestCancelReachesASubagentsCommand(t *testing.T) {
	const command = "sleep 598.7"
	w := NewWorld(t, `[autonomy]`, `auto_approve = ["shell(sleep *)"]`)
	a, s := w.Opened()
	id := a.BeginPrompt(s, spawn("TOOL", "D:TOOL shell "+command))
	waitFor(t, "the subagent's command", func() bool { return runs(t, command) })
	begun := time.Now()
	a.Cancel(s)
	if stop := a.Response(id).StopReason(); stop != "cancelled" {
		t.Errorf("ended %s", stop)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the cancel took %v", took)
	}
	waitGone(t, command)
	if stop := a.Prompt(s, "D:SAY alive").StopReason(); stop != "end_turn" {
		t.Errorf("afterwards %s", stop)
	}
	a.Quit()
}

func TestKillInTheMiddleOfASubagent(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.BeginPrompt(s, spawn("TOOL", "D:SAY I begin\nD:TOOL write a.txt x"))
	a.AwaitPermission(0)
	a.Crash()

	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if !hasUpdate(b.Updates(s, 0), func(u Update) bool { return u.Status == "failed" }) {
		t.Errorf("the call is open still:\n%s", b.Transcript())
	}
	child := b.child(s)
	if child == s {
		t.Fatal("the subagent's session is not listed")
	}
	b.Must("session/load", w.LoadParams(child), nil)
	if said := b.Said(child, 0); !strings.Contains(said, "I begin") {
		t.Errorf("the subagent's session holds %q", said)
	}
	for _, id := range []string{s, child} {
		if stop := b.Prompt(id, "D:SAY on").StopReason(); stop != "end_turn" {
			t.Errorf("%s ended %s", id, stop)
		}
	}
	if m := b.Call("session/delete", object{"sessionId": s}); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	if left := b.listed(object{"grapnel": object{"subagents": true}}); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	b.Quit()
}
