package fieldtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestASharedSessionBoundsItsGuests: a session at level full does for whom it is
// shared with no more than their own would, by whatever way they speak to it.
func TestASharedSessionBoundsItsGuests(t *testing.T) {
	w := NewWorld(t, `autonomy.level = "full"`, `owners.bob.ceiling = "readonly"`)
	g := w.Gateway()
	owner := g.Connect(Dial{})
	owner.Init()
	s := owner.New()
	bob := g.as(w.token("bob"))
	w.grapnel("", "session", "share", s, "bob", "approver")
	bob.Must("session/load", w.LoadParams(s), nil)

	bob.Prompt(s, "D:TOOL write prompt.txt x")
	bob.Prompt(s, "D:TOOL shell touch shell.txt")
	bob.Call("session/set_mode", object{"sessionId": s, "modeId": "full"})
	bob.Prompt(s, "/mode full")

	// Words added to the owner's turn, and a prompt that waits behind it.
	from := owner.Lines()
	id := owner.BeginPrompt(s, "D:SLOW 10")
	owner.AwaitUpdate(s, from, "the turn", func(u Update) bool { return u.Kind == "agent_message_chunk" })
	steering := PromptParams(s, "D:TOOL write steered.txt x")
	if m := bob.Call("_session/steering", steering); m.Error != nil {
		t.Fatalf("steering: %s", m.Error.Message)
	}
	waiting := bob.BeginPrompt(s, "D:TOOL write queued.txt x")
	owner.Response(id)
	bob.Response(waiting)

	// A second attachment by another connection is nobody else either.
	again := g.as(w.token("bob-too", "--owner", "bob"))
	again.Must("session/resume", w.LoadParams(s), nil)
	again.Prompt(s, "D:TOOL write again.txt x")

	owner.Prompt(s, "D:TOOL write owner.txt x")
	files, err := filepath.Glob(filepath.Join(w.Cwd, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	if !slices.Equal(files, []string{"owner.txt"}) {
		entries, _ := os.ReadDir(w.Cwd)
		t.Errorf("written: %v (%v)", files, entries)
	}
}
