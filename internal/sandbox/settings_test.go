package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// putFiles writes files below dir.
func putFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPutBack has a command do all it may to a repository.
func TestPutBack(t *testing.T) {
	at := func(name string) func(string) string {
		return func(dir string) string { return filepath.Join(dir, name) }
	}
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { putFiles(t, dir, map[string]string{name: text}) }
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.RemoveAll(at(name)(dir)); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(target, name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			remove(name)(t, dir)
			if err := os.Symlink(target, at(name)(dir)); err != nil {
				t.Skip(err) // systems on which not everybody makes links
			}
		}
	}
	tests := []struct {
		name    string
		do      func(*testing.T, string)
		guarded bool // a rung withholds settings and hooks
		want    []string
	}{
		{name: "nothing", do: write("README", "x")},
		{name: "a commit", do: write(".git/objects/ab/cd", "x")},
		{name: "a hook", do: write(".git/hooks/pre-commit", "evil"), want: []string{".git/hooks/pre-commit"}},
		{name: "a hook changed", do: write(".git/hooks/pre-push", "evil"), want: []string{".git/hooks/pre-push"}},
		{name: "a hook removed", do: remove(".git/hooks/pre-push"), want: []string{".git/hooks/pre-push"}},
		{name: "a sample", do: write(".git/hooks/x.sample", "x")},
		{name: "hooks removed", do: remove(".git/hooks"), want: []string{".git/hooks", ".git/hooks/pre-push"}},
		{name: "hooks elsewhere", do: link("../evil", ".git/hooks"), want: []string{".git/hooks", ".git/hooks/pre-push"}},
		{name: "hooks outside", do: link("/etc", ".git/hooks"), want: []string{".git/hooks", ".git/hooks/pre-push"}},
		{name: "settings", do: write(".git/config", "evil"), want: []string{".git/config"}},
		{name: "settings removed", do: remove(".git/config"), want: []string{".git/config"}},
		{name: "settings by a link", do: link("../evil", ".git/config"), want: []string{".git/config"}},
		{name: "somebody else's settings", do: write(".git/config", "theirs"), guarded: true},
		{name: "the repository elsewhere", do: write(".git/commondir", "../evil"), guarded: true, want: []string{".git/commondir"}},
		{name: "settings of one tree", do: write(".git/config.worktree", "evil"), guarded: true, want: []string{".git/config.worktree"}},
		{name: "settings of a module", do: write(".git/modules/m/config", "evil"), guarded: true, want: []string{".git/modules/m/config"}},
		{name: "a module's hook", do: write(".git/modules/m/hooks/post-checkout", "evil"), guarded: true, want: []string{".git/modules/m/hooks"}},
		{name: "a link for the repository", do: link("evil", ".git"), want: []string{".git"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := realOf(t.TempDir())
			putFiles(t, dir, map[string]string{
				".git/config": "[core]\n", ".git/hooks/pre-push": "check\n", ".git/hooks/y.sample": "", ".git/HEAD": "ref: refs/heads/main\n",
				".git/modules/m/config": "[core]\n", "evil/pre-commit": "evil\n",
			})
			b := New(Options{}).Open(Session{Roots: []string{dir}})
			st := Status{Rung: Landlock}
			if tt.guarded {
				st.Rung = Bubblewrap
			}
			before := b.GitSettings(st)
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
			if again, err := before.PutBack(); tt.name != "a link for the repository" && (len(again) > 0 || err != nil) {
				t.Errorf("it was not put back: %q %v", again, err)
			}
		})
	}
}

// TestPutBackStaysInside: what a command leaves in the way leads nowhere else.
func TestPutBackStaysInside(t *testing.T) {
	dir, outside := realOf(t.TempDir()), realOf(t.TempDir())
	putFiles(t, dir, map[string]string{".git/config": "[core]\n", ".git/hooks/pre-push": "check\n"})
	b := New(Options{}).Open(Session{Roots: []string{dir}})
	before := b.GitSettings(Status{Rung: Landlock})
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".git")); err != nil {
		t.Skip(err)
	}
	if _, err := before.PutBack(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) > 0 {
		t.Errorf("something was written outside: %v %v", entries, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !info.IsDir() {
		t.Errorf("the link is still there: %v %v", info, err)
	}
}
