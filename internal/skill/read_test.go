package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/skill"
)

// house is a directory with the three places.
type house struct {
	*testing.T
	dir string
}

func newHouse(t *testing.T) house {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return house{t, dir}
}

func (h house) places() []skill.Place {
	return []skill.Place{
		{Root: filepath.Join(h.dir, "workspace"), Dir: "skills", Origin: skill.Agent},
		{Root: filepath.Join(h.dir, "shared"), Dir: ".", Origin: skill.Shared},
		{Root: filepath.Join(h.dir, "project"), Dir: filepath.Join(".agents", "skills"), Origin: skill.Project},
	}
}

// write makes a file and the directories above it.
func (h house) write(name, text string) string {
	h.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
	return path
}

func (h house) link(target, name string) {
	h.Helper()
	path := filepath.Join(h.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		if runtime.GOOS == "windows" {
			h.Skipf("links need a privilege here: %v", err)
		}
		h.Fatal(err)
	}
}

func (h house) read() *skill.Catalogue { return skill.Read(h.places(), fsroot.Options{}, nil) }

func md(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nThe text of %s.\n", name, description, name)
}

func names(c *skill.Catalogue) []string {
	var list []string
	for _, s := range c.Skills {
		list = append(list, fmt.Sprintf("%s %s: %s", s.Origin, s.Name, s.Description))
	}
	return list
}

// wantProblem expects the only problem to be about a file, for a reason.
func (h house) wantProblem(c *skill.Catalogue, path, reason string) {
	h.Helper()
	if len(c.Problems) != 1 || c.Problems[0].Path != filepath.Join(h.dir, filepath.FromSlash(path)) || !strings.Contains(c.Problems[0].Reason, reason) {
		h.Errorf("problems %v; want one of %s: %s", c.Problems, path, reason)
	}
}

func TestNoPlaceIsNoProblem(t *testing.T) {
	h := newHouse(t)
	if c := h.read(); len(c.Skills)+len(c.Problems) != 0 {
		t.Errorf("got %+v", c)
	}
	h.write("project/README", "x")
	h.write("shared/notes.txt", "x")
	h.write("shared/folder/file", "no skill")
	h.write("shared/.git/SKILL.md", md("git", "hidden"))
	if c := h.read(); len(c.Skills)+len(c.Problems) != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestPrecedence(t *testing.T) {
	h := newHouse(t)
	h.write("workspace/skills/one/SKILL.md", md("one", "the agent's"))
	h.write("shared/one/SKILL.md", md("one", "shared"))
	h.write("shared/two/SKILL.md", md("two", "shared"))
	h.write("shared/a/SKILL.md", md("three", "shared"))
	h.write("project/.agents/skills/two/SKILL.md", md("two", "the project's"))
	h.write("project/.agents/skills/four/SKILL.md", md("four", "the project's"))
	c := h.read()
	want := []string{"agent one: the agent's", "shared three: shared", "shared two: shared", "project four: the project's"}
	if d := cmp.Diff(want, names(c)); d != "" {
		t.Error(d)
	}
	h.wantProblem(c, "project/.agents/skills/two/SKILL.md", "a project's skill cannot replace it")
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, path, reason string
		make               func(h house)
	}{
		{"broken header", "shared/bad/SKILL.md", "line 3", func(h house) {
			h.write("shared/bad/SKILL.md", "---\nname: bad\ndescription: a: b: c\n---\n")
		}},
		{"no description", "shared/bad/SKILL.md", "no description", func(h house) { h.write("shared/bad/SKILL.md", "---\nname: bad\n---\n") }},
		{"huge", "shared/bad/SKILL.md", "larger than 256 KiB", func(h house) {
			h.write("shared/bad/SKILL.md", md("bad", "d")+strings.Repeat("x", skill.MaxFile))
		}},
		{"not UTF-8", "shared/bad/SKILL.md", "not UTF-8", func(h house) { h.write("shared/bad/SKILL.md", md("bad", "caf\xe9")) }},
		{"two of a name", "shared/bad/SKILL.md", `the name "good" is taken by`, func(h house) { // bad sorts before good
			h.write("shared/a/SKILL.md", md("good", "the good one"))
			h.write("shared/bad/SKILL.md", md("good", "d"))
			_ = os.RemoveAll(filepath.Join(h.dir, "shared/good"))
		}},
		{"folder outside", "shared/bad", "leads out of", func(h house) {
			h.write("elsewhere/SKILL.md", md("bad", "d"))
			h.link(filepath.Join(h.dir, "elsewhere"), "shared/bad")
		}},
		{"file outside", "shared/bad/SKILL.md", "leads out of", func(h house) {
			h.write("shared/bad/x", "")
			h.link(h.write("elsewhere.md", md("bad", "d")), "shared/bad/SKILL.md")
		}},
		{"file of another folder", "shared/bad/SKILL.md", "leads out of the skill's folder", func(h house) {
			h.write("shared/bad/x", "")
			h.link("../good/SKILL.md", "shared/bad/SKILL.md")
		}},
		{"place outside", "project/.agents/skills", "leads out of", func(h house) {
			h.write("elsewhere/bad/SKILL.md", md("bad", "d"))
			h.link(filepath.Join(h.dir, "elsewhere"), "project/.agents/skills")
		}},
		{"dangling", "shared/bad", "does not exist", func(h house) { h.link("nowhere", "shared/bad") }},
		{"a directory for a file", "shared/bad/SKILL.md", "not a regular file", func(h house) { h.write("shared/bad/SKILL.md/x", "") }},
		{"a file for the place", "project/.agents/skills", "not a directory", func(h house) { h.write("project/.agents/skills", "") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			h.write("shared/good/SKILL.md", md("good", "the good one"))
			c.make(h)
			got := h.read()
			if d := cmp.Diff([]string{"shared good: the good one"}, names(got)); d != "" {
				t.Error(d)
			}
			h.wantProblem(got, c.path, c.reason)
		})
	}
}

func TestThousandSkills(t *testing.T) {
	h := newHouse(t)
	for i := range 1000 {
		h.write(fmt.Sprintf("project/.agents/skills/s%04d/SKILL.md", i), md(fmt.Sprintf("s%04d", i), "d"))
	}
	h.write("shared/mine/SKILL.md", md("mine", "d"))
	c := h.read()
	if len(c.Skills) != skill.MaxSkills+1 {
		t.Errorf("%d skills", len(c.Skills))
	}
	h.wantProblem(c, "project/.agents/skills", "more than the 200 skills")
	if _, ok := c.Find("mine"); !ok {
		t.Error("the user's own was crowded out")
	}
}

func TestReadAgain(t *testing.T) {
	h := newHouse(t)
	path := h.write("shared/one/SKILL.md", md("one", "first"))
	c := h.read()
	again := skill.Read(h.places(), fsroot.Options{}, c)
	if !c.Equal(again) {
		t.Errorf("changed by itself: %+v", again)
	}
	h.write("shared/one/SKILL.md", md("one", "other"))
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	again = skill.Read(h.places(), fsroot.Options{}, again)
	if s, _ := again.Find("one"); c.Equal(again) || s.Description != "other" {
		t.Errorf("the change was missed: %+v", again.Skills)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if gone := skill.Read(h.places(), fsroot.Options{}, again); len(gone.Skills) != 0 {
		t.Errorf("still there: %+v", gone.Skills)
	}
}

func TestForbiddenPlacesStayForbidden(t *testing.T) {
	h := newHouse(t)
	h.write("shared/one/SKILL.md", md("one", "d"))
	h.write("shared/one/secret/key", "k")
	opts := fsroot.Options{Own: []string{filepath.Join(h.dir, "shared/one/secret")}}
	c := skill.Read(h.places(), opts, nil)
	if _, err := c.Load("one", "secret/key"); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("read: %v", err)
	}
	if text, err := c.Load("one", ""); err != nil || len(text.Files) != 0 {
		t.Errorf("%+v %v", text, err)
	}
}

func TestLoad(t *testing.T) {
	h := newHouse(t)
	h.write("workspace/skills/folder/SKILL.md", md("one", "d"))
	h.write("workspace/skills/folder/more/a.md", "details\n")
	h.write("workspace/skills/folder/script.py", "print()\n")
	h.write("workspace/skills/folder/bin", "\xff\xfe")
	h.write("workspace/secret.txt", "secret")
	h.write("outside.txt", "secret")
	h.link("../../secret.txt", "workspace/skills/folder/near")
	h.link(filepath.Join(h.dir, "outside.txt"), "workspace/skills/folder/far")
	h.link("more/a.md", "workspace/skills/folder/inner")
	c := h.read()
	text, err := c.Load("one", "")
	if err != nil || text.Text != "The text of one." || text.Skill.Name != "one" {
		t.Errorf("%+v %v", text, err)
	}
	if want := []string{"bin", "more/a.md", "script.py"}; !slices.Equal(text.Files, want) {
		t.Errorf("files %v", text.Files)
	}
	for path, want := range map[string]string{"more/a.md": "details\n", "inner": "details\n", "./script.py": "print()\n"} {
		if text, err := c.Load("one", path); err != nil || text.Text != want {
			t.Errorf("%s: %q %v", path, text.Text, err)
		}
	}
	for path, why := range map[string]string{
		"../../secret.txt": "not a path inside", "/etc/hostname": "not a path inside", "..": "not a path inside",
		"near": "leads out of the folder", "far": "outside", "more": "not a regular file", "none.md": "no file", "bin": "not a text file",
		"more/../../../secret.txt": "not a path inside",
	} {
		if text, err := c.Load("one", path); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %q %v", path, text.Text, err)
		}
	}
	if _, err := c.Load("two", ""); err == nil || !strings.Contains(err.Error(), "no such skill") {
		t.Errorf("no skill: %v", err)
	}
}

// TestLoadReadsWhatIsThereNow takes a folder swapped for a link after it was
// listed.
func TestLoadReadsWhatIsThereNow(t *testing.T) {
	h := newHouse(t)
	h.write("project/.agents/skills/one/SKILL.md", md("one", "d"))
	h.write("outside/SKILL.md", md("one", "secret"))
	c := h.read()
	folder := filepath.Join(h.dir, "project/.agents/skills/one")
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Load("one", ""); err == nil {
		t.Error("a skill that is gone was read")
	}
	h.link(filepath.Join(h.dir, "outside"), "project/.agents/skills/one")
	if text, err := c.Load("one", ""); err == nil {
		t.Errorf("read through the link: %q", text.Text)
	}
}
