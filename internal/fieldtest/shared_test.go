package fieldtest

import (
	"strings"
	"testing"
)

// Two processes on one store: an editor's agent and another editor's.
func TestTwoProcessesOneSession(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.Prompt(s, "D:SAY first")
	b := w.Start()
	b.Init()
	m := b.Call("session/load", w.LoadParams(s))
	if m.Error != nil {
		t.Fatalf("load of a session active elsewhere: %+v\n%s", m.Error, b.Stderr())
	}
	if got := b.Said(s, 0); got != "first" {
		t.Errorf("the second process replays %q", got)
	}

	// A prompt there is run by the owner and seen by both.
	from := a.Lines()
	if got := b.Prompt(s, "D:SAY second").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	if got := b.Said(s, m.Line); got != "second" {
		t.Errorf("its own client reads %q", got)
	}
	a.AwaitUpdate(s, from, "the other client's words", func(u Update) bool { return u.Kind == "user_message_chunk" && u.Text == "D:SAY second" })
	a.AwaitUpdate(s, from, "the answer to the other client", func(u Update) bool { return u.Text == "second" })

	// A permission is offered to both; the first answer counts and the other
	// client sees the request go.
	from, fromB := a.Lines(), b.Lines()
	id := b.BeginPrompt(s, "D:TOOL write shared.txt x")
	pa, pb := a.AwaitPermission(from), b.AwaitPermission(fromB)
	if pa.ID != pb.ID {
		t.Errorf("the request is %s here and %s there", pa.ID, pb.ID)
	}
	a.Choose(pa, "allow_once")
	if got := b.Response(id).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	b.Await(fromB, "the withdrawal of the request", func(m Message) bool { return m.Method == "$/cancel_request" })
	b.Choose(pb, "reject_once") // too late, and harmless
	if fileSize(w.Cwd+"/shared.txt") == 0 {
		t.Error("the file was not written")
	}

	// A cancel from the second process works too.
	id = b.BeginPrompt(s, "D:STALL")
	b.Cancel(s)
	if got := b.Response(id).StopReason(); got != "cancelled" {
		t.Error(got)
	}

	// The owner dies in the middle of a turn: the client is told, and can go on.
	id = b.BeginPrompt(s, "D:SAY half ; D:STALL")
	b.AwaitUpdate(s, fromB, "the half answer", func(u Update) bool { return u.Text == "half" })
	a.Kill()
	if m := b.Response(id); m.Error == nil || !strings.Contains(string(m.Error.Data), "interrupted") {
		t.Errorf("the prompt of a killed owner: %s %+v", m.Result, m.Error)
	}
	b.Must("session/load", w.LoadParams(s), nil)
	if got := b.Prompt(s, "D:SAY alone").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestManyProcessesOneStore(t *testing.T) {
	w := NewWorld(t)
	const n = 4
	agents := make([]*Agent, n)
	sessions := make([]string, n)
	ids := make([]string, n)
	for i := range agents {
		agents[i], sessions[i] = w.Opened()
	}
	for i, a := range agents {
		ids[i] = a.BeginPrompt(sessions[i], "D:CHUNKS 200,20")
	}
	for i, a := range agents {
		if got := a.Response(ids[i]).StopReason(); got != "end_turn" {
			t.Errorf("process %d: %s", i, got)
		}
	}
	if got := len(agents[0].List()); got != n {
		t.Errorf("%d sessions listed", got)
	}
}
