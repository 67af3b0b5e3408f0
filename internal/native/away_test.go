package native_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// machine is a client's: its files, and its terminals, which say what they run.
type machine struct {
	mu    sync.Mutex
	files map[string]string
	ran   []string
	gone  bool
}

func (m *machine) ReadTextFile(_ context.Context, path string, _, _ int) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return "", session.ErrHandsGone
	}
	text, ok := m.files[path]
	if !ok {
		return "", fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return text, nil
}

func (m *machine) WriteTextFile(_ context.Context, path, content string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[path] = content
	return nil
}

func (m *machine) CreateTerminal(_ context.Context, argv []string, cwd string, _ map[string]string, _ int64) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return "", session.ErrHandsGone
	}
	m.ran = append(m.ran, cwd+": "+strings.Join(argv, " "))
	return "term-1", nil
}

func (m *machine) TerminalOutput(context.Context, string) (string, bool, *session.TerminalExit, error) {
	code := 0
	return "from the client\n", false, &session.TerminalExit{Code: &code}, nil
}

func (m *machine) WaitTerminal(context.Context, string) (session.TerminalExit, error) {
	code := 0
	return session.TerminalExit{Code: &code}, nil
}

func (m *machine) KillTerminal(context.Context, string) error    { return nil }
func (m *machine) ReleaseTerminal(context.Context, string) error { return nil }

// openAway opens a session whose hands are all on a machine of their own.
func (w *world) openAway(cwd string) (*sessiontest.Client, *machine) {
	w.Helper()
	m := &machine{files: map[string]string{}}
	at := sessiontest.Approver(session.ReplayNone)
	at.Hands = session.Hands{FS: m, Terminals: m, Only: true}
	a, err := w.hub.Create(w.Context(), hub.NewSession{Owner: "local", Agent: "main", Cwd: cwd, Attach: at})
	if err != nil {
		w.Fatal(err)
	}
	return sessiontest.Pump(w.T, a), m
}

// told is what the model was told by its last tool.
func (w *world) told() string {
	w.Helper()
	messages := w.messages()
	return messages[len(messages)-1].text()
}

// TestAllHandsOnTheClient works in a directory that is not on this machine.
func TestAllHandsOnTheClient(t *testing.T) {
	w := newWorld(t)
	const cwd = "/nowhere/project"
	c, m := w.openAway(cwd)
	m.files[cwd+"/AGENTS.md"] = "Indent with tabs."
	m.files[cwd+"/a.txt"] = "one\ntwo\n"
	if _, err := c.Set(t.Context(), "mode", "accept-edits"); err != nil {
		t.Fatal(err)
	}
	c.Say("D:TOOL read a.txt")
	if got := w.told(); !strings.Contains(got, `one\ntwo`) {
		t.Errorf("read: %s", got)
	}
	system, tools := w.request()
	if !strings.Contains(system, "Indent with tabs.") || !strings.Contains(system, "Working directory: "+cwd) || strings.Contains(system, w.agent.Workspace+" (") {
		t.Errorf("the model was told:\n%s", system)
	}
	slices.Sort(tools)
	if d := cmp.Diff([]string{"ask_user", "escalate_to_human", "file_edit", "file_read", "file_write", "shell", "todo"}, tools); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	c.Say("D:TOOL edit a.txt|two|three")
	c.Say("D:TOOL write sub/b.txt new")
	if m.files[cwd+"/a.txt"] != "one\nthree\n" || m.files[cwd+"/sub/b.txt"] != "new" {
		t.Errorf("the client has %q; the model was told %s", m.files, w.told())
	}
	c.Say("D:TOOL shell echo hello")
	if d := cmp.Diff([]string{cwd + ": sh -c echo hello"}, m.ran); d != "" || !strings.Contains(w.told(), "from the client") {
		t.Errorf("the client ran (-want +got):\n%s\nthe model was told %s", d, w.told())
	}
	if _, err := os.Stat(cwd); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made here: %v", err)
	}
}

// TestAwayPathsAreJudged: by their names, as those on the host are.
func TestAwayPathsAreJudged(t *testing.T) {
	w := newWorld(t)
	w.agent.FSRoots.Forbidden = []string{"/nowhere/project/secret"}
	c, m := w.openAway("/nowhere/project")
	m.files["/nowhere/other.txt"], m.files["/nowhere/project/secret/key"] = "private", "hidden"
	for _, path := range []string{"../other.txt", "/nowhere/other.txt", "secret/key", "x/../secret/key"} {
		c.Say("D:TOOL read " + path)
		if got := w.told(); strings.Contains(got, "private") || strings.Contains(got, "hidden") || strings.Contains(got, "does not exist") {
			t.Errorf("%s: %s", path, got)
		}
	}
	p := c.Send("D:TOOL shell cat ../other.txt")
	ask := c.UntilKind(session.KindPermission)
	if _, err := c.Answer(t.Context(), session.Verdict{Request: ask.ID, Outcome: session.Withdrawn}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	if len(m.ran) > 0 {
		t.Errorf("the client ran %v", m.ran)
	}
}

// TestAwayWhenTheClientIsGone: nothing is done on the host in its place, also
// where the host has such a directory.
func TestAwayWhenTheClientIsGone(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.cwd, "a.txt"), []byte("the host's"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, m := w.openAway(w.cwd)
	if _, err := c.Set(t.Context(), "mode", "accept-edits"); err != nil {
		t.Fatal(err)
	}
	m.gone = true
	for _, call := range []string{"read a.txt", "write b.txt x", "shell echo x > c.txt"} {
		c.Say("D:TOOL " + call)
		if got := w.told(); !strings.Contains(got, "has left") || strings.Contains(got, "the host's") {
			t.Errorf("%s: %s", call, got)
		}
	}
	if files, _ := os.ReadDir(w.cwd); len(files) != 1 {
		t.Errorf("the host has %v", files)
	}
}

// TestDirectoryElsewhere: who has other hands cannot work in a directory that is
// not here, and is told so.
func TestDirectoryElsewhere(t *testing.T) {
	w := newWorld(t)
	c, _ := w.openAway("/nowhere/project")
	c.Say("D:SAY hello")
	other := w.load(c.Info().ID)
	end := other.Say("D:SAY again")
	if end.Error == nil || !strings.Contains(end.Error.Message, "/nowhere/project is not on this machine") {
		t.Errorf("ended %+v", end)
	}
	c.Say("D:SAY still here")
	blob := `{"type":"resource","resource":{"uri":"file:///x.bin","blob":"AAEC"}}`
	p, err := c.Prompt(t.Context(), session.PromptRequest{Content: []jsontext.Value{
		jsontext.Value(blob), jsontext.Value(`{"type":"text","text":"D:SAY ok"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if end := c.End(p.Turn); end.Error != nil {
		t.Errorf("with a file: %+v", end.Error)
	}
}
