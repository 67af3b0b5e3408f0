package fieldtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a file and the directories above it.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commands are the newest commands a client was shown, by name with their hints.
func (a *Agent) commands(session string, from int) map[string]string {
	a.t.Helper()
	u := a.AwaitUpdate(session, from, "commands", func(u Update) bool { return u.Kind == "available_commands_update" })
	var list []struct {
		Name  string `json:"name"`
		Input struct {
			Hint string `json:"hint"`
		} `json:"input"`
	}
	if err := json.Unmarshal(u.Raw["availableCommands"], &list); err != nil {
		a.t.Fatal(err)
	}
	found := make(map[string]string)
	for _, c := range list {
		found[c.Name] = c.Input.Hint
	}
	return found
}

func TestSkillsOfAllThreePlaces(t *testing.T) {
	w := NewWorld(t)
	skill := "---\ndescription: Does %\nargument-hint: of what\n---\nThe text of %.\n"
	for name, dir := range map[string]string{
		"own": filepath.Join(w.Home, "agents", "main", "workspace", "skills"), "shared": filepath.Join(w.Home, "skills"),
		"repo": filepath.Join(w.Cwd, ".agents", "skills"),
	} {
		put(t, filepath.Join(dir, name, "SKILL.md"), strings.ReplaceAll(skill, "%", name))
	}
	put(t, filepath.Join(w.Home, "skills", "broken", "SKILL.md"), "---\nname: [\n---\n")
	put(t, filepath.Join(w.Home, "agents", "main", "workspace", "MEMORY.md"), "Never tell.\n")
	a, s := w.Opened()
	have := a.commands(s, 0)
	for _, name := range []string{"own", "shared", "repo"} {
		if have[name] != "of what" {
			t.Errorf("commands %v lack %s", have, name)
		}
	}
	from := a.Lines()
	if stop := a.Prompt(s, "/shared this\nD:TOOL read_skill {\"name\":\"repo\"}").StopReason(); stop != "end_turn" {
		t.Errorf("ended %s", stop)
	}
	if said := a.Said(s, from); !strings.Contains(said, filepath.Join("broken", "SKILL.md")) {
		t.Errorf("the broken one was not told of: %q", said)
	}
	reqs := w.Model.Requests()
	first, last := string(reqs[0].Body), string(reqs[len(reqs)-1].Body)
	for _, want := range []string{"The text of shared.", "- own: Does own", "- shared: Does shared", "- repo (the project's"} {
		if !strings.Contains(first, want) {
			t.Errorf("the model was not sent %q", want)
		}
	}
	if !strings.Contains(last, "The text of repo.") || strings.Contains(last, "Never tell") {
		t.Errorf("the model was sent %s", last)
	}

	put(t, filepath.Join(w.Home, "skills", "late", "SKILL.md"), strings.ReplaceAll(skill, "%", "late"))
	from = a.Lines()
	a.Prompt(s, "D:SAY x")
	if have := a.commands(s, from); have["late"] == "" {
		t.Errorf("commands %v", have)
	}
	a.Quit()
	b := w.Start()
	b.Init()
	for _, method := range []string{"session/load", "session/resume"} {
		from := b.Lines()
		b.Must(method, w.LoadParams(s), nil)
		if have := b.commands(s, from); have["late"] == "" || have["usage"] != "" {
			t.Errorf("%s: commands %v", method, have)
		}
	}
	b.Quit()
}
