package fieldtest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// unavailable is a rung that this system does not have.
func unavailable() string {
	if runtime.GOOS == "darwin" {
		return "bubblewrap"
	}
	return "seatbelt"
}

// The first command that nothing confines says so, and no other.
func TestCommandsWithoutASandboxSaySoOnce(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["echo"]`, `sandbox = "`+unavailable()+`"`)
	a, s := w.Opened()
	a.Prompt(s, "D:TOOL read missing ; D:TOOL shell echo one ; D:TOOL shell echo two")
	const words = "Nothing confines the commands of this session"
	var said []string
	notices := 0
	for _, u := range a.Updates(s, 0) {
		switch {
		case u.Status == "completed" || u.Status == "failed":
			if text := toolText(t, u); strings.Contains(text, words) {
				said = append(said, text)
			}
		case strings.Contains(string(u.Raw["title"])+string(u.Raw["content"]), "Commands run without a sandbox"):
			notices++
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "one") || notices != 1 {
		t.Errorf("%d notices, and results %q", notices, said)
	}
	a.Prompt(s, "D:TOOL shell echo three")
	reqs := w.Model.Requests()
	if last := string(reqs[len(reqs)-1].Body); strings.Count(last, words) != 0 {
		t.Error("the model is told what people are")
	}
}

func TestRequiredSandbox(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["echo"]`, `sandbox = "`+unavailable()+`"`, `sandbox_required = true`)
	a := w.Start()
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"terminal": true}}, nil)
	s := a.New()
	a.Prompt(s, "D:TOOL shell echo made > made")
	u := a.AwaitUpdate(s, 0, "the command", func(u Update) bool { return u.Status == "failed" })
	if _, err := os.Stat(filepath.Join(w.Cwd, "made")); err == nil {
		t.Error("it ran")
	}
	reqs := w.Model.Requests()
	if last := string(reqs[len(reqs)-1].Body); !strings.Contains(last, "sandbox_required is set") {
		t.Errorf("the model is told %s, people %s", last, toolText(t, u))
	}
}
