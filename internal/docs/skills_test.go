package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/skill"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// TestSkillExample reads the skills of the documents.
func TestSkillExample(t *testing.T) {
	for _, b := range blocksIn(t, "markdown") {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "example"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "example", "SKILL.md"), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := skill.Read([]skill.Place{{Root: dir, Dir: ".", Origin: skill.Shared}}, fsroot.Options{}, nil)
		if len(c.Problems) > 0 || len(c.Skills) != 1 {
			t.Fatalf("%s:%d: %v", b.page, b.line, c.Problems)
		}
		s := c.Skills[0]
		if s.Name != "release-notes" || s.Hint != "version" || !s.User || !s.Model {
			t.Errorf("%s:%d: read as %+v", b.page, b.line, s)
		}
	}
}

// TestSkillFacts holds what the page on skills says against the code.
func TestSkillFacts(t *testing.T) {
	text := section(t, "docs/skills.md", "Skills")
	for _, want := range []string{fmt.Sprintf("%d skills", skill.MaxSkills), fmt.Sprintf("%d KiB", skill.MaxFile>>10)} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	set := tool.NewSet(tool.Default()...)
	for _, name := range []string{"read_skill", "spawn_subagent"} {
		if _, err := set.Lookup(name); err != nil {
			t.Error(err)
		}
	}
	source := sources(t)
	for fact, code := range map[string]string{
		"four at a time":           "maxBeside = 4\n",
		"have none of\ntheir own":  "maxDepth = 1\n",
		"each up to 32 KiB":        "instructionBytes = 32 << 10\n",
		"up to 1024 characters":    "maxDescription = 1024\n",
		"`IDENTITY.md`, `SOUL.md`": `"IDENTITY.md", "SOUL.md", "AGENTS.md", "USER.md", "TOOLS.md"`,
	} {
		if !strings.Contains(pageText(t, "docs/skills.md"), fact) || !strings.Contains(source, code) {
			t.Errorf("the page says %q, or the code %q, no more", fact, code)
		}
	}
}

// pageText is the text of one document.
func pageText(t *testing.T, name string) string {
	t.Helper()
	for _, p := range pages(t) {
		if p.name == name {
			return p.text
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}
