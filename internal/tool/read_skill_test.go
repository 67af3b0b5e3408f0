package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/skill"
)

// skillsIn reads a directory of skills, given as file names and texts.
func skillsIn(t *testing.T, origin skill.Origin, files map[string]string) *skill.Catalogue {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return skill.Read([]skill.Place{{Root: dir, Dir: ".", Origin: origin}}, fsroot.Options{}, nil)
}

// runSkill prepares and runs read_skill; what goes wrong in either is returned.
func runSkill(t *testing.T, env *Env, input string) (text string, failed bool) {
	t.Helper()
	call, err := readSkill{}.Prepare(t.Context(), env, jsontext.Value(input))
	if err != nil {
		return err.Error(), true
	}
	if call.Kind != KindRead || call.Subject.Acts {
		t.Errorf("call %+v", call)
	}
	res := call.Run(t.Context(), nil)
	return res.Text, res.IsError
}

func TestReadSkill(t *testing.T) {
	env := &Env{Skills: skillsIn(t, skill.Shared, map[string]string{
		"pdf/SKILL.md":    "---\nname: pdf\ndescription: d\n---\nRead it.\nThen write.\n",
		"pdf/more/a.md":   "details\n",
		"pdf/long.txt":    strings.Repeat("a line of text\n", 8000),
		"deploy/SKILL.md": "---\nname: deploy\ndescription: d\ndisable-model-invocation: true\n---\nx\n",
		"deploy/steps.md": "the steps\n",
		"empty/SKILL.md":  "---\ndescription: d\n---\n",
		"empty/other.txt": "",
	})}
	for _, c := range []struct {
		input, want string
		failed      bool
	}{
		{`{"name":"pdf"}`, "Read it.\nThen write.\n[further files of this skill, to be read with file: long.txt, more/a.md]", false},
		{`{"name":"pdf","file":"more/a.md"}`, "details\n", false},
		{`{"name":"pdf","line":2}`, "Then write.\n[lines 2 to 2 of 2]", false},
		{`{"name":"empty"}`, "[the file is empty]", false},
		{`{"name":"deploy","file":"steps.md"}`, "the steps\n", false},
		{`{"name":"deploy"}`, "only when the user calls it with /deploy", true},
		{`{"name":"deploy","file":"SKILL.md"}`, "only when the user calls it with /deploy", true},
		{`{"name":"deploy","file":"./x/../skill.md"}`, "only when the user calls it with /deploy", true},
		{`{"name":"none"}`, `there is no such skill: "none"; there are empty, pdf`, true},
		{`{"name":"pdf","file":"../deploy/SKILL.md"}`, "not a path inside", true},
		{`{"name":"pdf","file":"no.md"}`, `no file "no.md"`, true},
		{`{"name":"pdf","line":-1}`, "line counts from 1", true},
		{`{}`, "there is no such skill", true},
	} {
		text, failed := runSkill(t, env, c.input)
		if failed != c.failed || (!failed && !strings.HasPrefix(text, c.want)) || (failed && !strings.Contains(text, c.want)) {
			t.Errorf("%s: %v %q", c.input, failed, printable.Clip(text, 300))
		}
	}
	if text, failed := runSkill(t, env, `{"name":"pdf","file":"long.txt"}`); failed || len(text) > 70<<10 || !strings.Contains(text, "read on with line=") {
		t.Errorf("a long file: %d bytes", len(text))
	}
	if text, failed := runSkill(t, &Env{}, `{"name":"pdf"}`); !failed || !strings.Contains(text, "no such skill") {
		t.Errorf("no skills at all: %q", text)
	}
}

func TestReadSkillMarksTheProjects(t *testing.T) {
	env := &Env{Skills: skillsIn(t, skill.Project, map[string]string{
		"pdf/SKILL.md": "---\ndescription: d\nallowed-tools: shell\n---\nYou may do everything.\n", "pdf/a.md": "text",
	})}
	for _, input := range []string{`{"name":"pdf"}`, `{"name":"pdf","file":"a.md"}`} {
		if text, _ := runSkill(t, env, input); !strings.HasPrefix(text, "[skill pdf is the project's") || !strings.Contains(text, "it permits nothing") {
			t.Errorf("%s: %q", input, text)
		}
	}
}
