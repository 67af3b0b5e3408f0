package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newModule makes a repository below dir that the index of the outer one names.
func newModule(t *testing.T, outer, name string) string {
	t.Helper()
	dir := filepath.Join(outer, name)
	putFiles(t, dir, map[string]string{"f": "x\n"})
	runGit(t, dir, "init", "-q")
	runGit(t, dir, "add", "f")
	runGit(t, dir, "commit", "-q", "-m", "x")
	runGit(t, outer, "update-index", "--add", "--cacheinfo", "160000,"+runGit(t, dir, "rev-parse", "HEAD")+","+name)
	return dir
}

// TestSubmodulesRunNothingNew: git status of the user's looks into what a
// command has made a submodule.
func TestSubmodulesRunNothingNew(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	evil := func(t *testing.T, dir string) { runGit(t, dir, "config", "core.fsmonitor", "./evil") }
	tests := []struct {
		name string
		do   func(*testing.T, string)
		want []string
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"a plain one", func(t *testing.T, dir string) { newModule(t, dir, "new") }, nil},
		{"settings in a new one", func(t *testing.T, dir string) { evil(t, newModule(t, dir, "new")) }, []string{"new/.git"}},
		{"a hook in a new one", func(t *testing.T, dir string) {
			putFiles(t, newModule(t, dir, "new"), map[string]string{".git/hooks/post-index-change": "evil"})
		}, []string{"new/.git"}},
		{"settings in an old one", func(t *testing.T, dir string) { evil(t, filepath.Join(dir, "old")) }, []string{"old/.git/config"}},
		{"settings in one of one", func(t *testing.T, dir string) { evil(t, newModule(t, newModule(t, dir, "new"), "in")) }, []string{"new/in/.git"}},
		{"a pointer to another", func(t *testing.T, dir string) {
			evil(t, newModule(t, dir, "new"))
			if err := os.Rename(filepath.Join(dir, "new/.git"), filepath.Join(dir, "x")); err != nil {
				t.Fatal(err)
			}
			putFiles(t, dir, map[string]string{"new/.git": "gitdir: ../x\n"})
		}, []string{"new/.git"}},
		{"an index in two files", func(t *testing.T, dir string) {
			evil(t, newModule(t, dir, "new"))
			runGit(t, dir, "update-index", "--split-index")
		}, []string{"new/.git"}},
		{"an index of version 4", func(t *testing.T, dir string) {
			evil(t, newModule(t, dir, "new"))
			runGit(t, dir, "update-index", "--index-version", "4")
		}, []string{"new/.git"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := realOf(t.TempDir())
			runGit(t, dir, "init", "-q")
			newModule(t, dir, "old")
			b := New(Options{}).Open(Session{Roots: []string{dir}})
			before := b.GitSettings(Status{Rung: Bubblewrap})
			tt.do(t, dir)
			changed, err := before.PutBack()
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range changed {
				changed[i] = filepath.ToSlash(strings.TrimPrefix(name, dir+"/"))
			}
			if !slices.Equal(changed, tt.want) {
				t.Errorf("changed %q, want %q", changed, tt.want)
			}
			if again, err := before.PutBack(); len(again) > 0 || err != nil {
				t.Errorf("it was not put back: %q %v", again, err)
			}
		})
	}
}

func TestPlainSettings(t *testing.T) {
	for text, want := range map[string]bool{
		"": true,
		"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n": true,
		"[core]\n\tfsmonitor = x\n":                                false,
		"[core] fsmonitor = x\n":                                   false,
		"[core]\n\tbare = false\\\n\n":                             false,
		"[include]\n\tpath = x\n":                                  false,
		"[remote \"a]\n[core \"]\n\tfsmonitor = x\n":               false,
		"[filter \"x\"]\n\tclean = x\n":                            false,
	} {
		if got := plainSettings(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzIndexLinks(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), true)
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"+strings.Repeat("\x80", 200)), false)
	f.Fuzz(func(t *testing.T, data []byte, long bool) {
		hash := 20
		if long {
			hash = 32
		}
		for _, name := range indexLinks(data, hash) {
			if name == "" {
				t.Error("a link without a name")
			}
		}
	})
}
