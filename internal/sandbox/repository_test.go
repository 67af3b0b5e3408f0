package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// git runs git outside the sandbox.
func (w *world) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(w.env(), "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *world) repository() {
	w.git(w.cwd, "init", "-q", "-b", "main")
	w.git(w.cwd, "add", ".")
	w.git(w.cwd, "commit", "-q", "-m", "first")
}

// everyday is what people do with git all day.
const everyday = `set -e
git status --short
echo more >> file
git add file
git commit -q -m second
git checkout -q -b side
echo side > other
git add other
git commit -q -m third
git checkout -q main
git merge -q side
git stash list
git tag v1
git branch -d side
git log --oneline | wc -l
git gc -q
git fsck`

func TestGitEveryday(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.repository()
		w.expect(Want{}, everyday)
		w.expect(Want{ReadOnly: true}, "git --no-optional-locks status && git log --oneline && git diff")
	})
}

// What makes git run programs is not for a command that nobody was asked about.
// Landlock cannot withhold it; docs say so.
func TestGitGuards(t *testing.T) {
	w := newWorld(t, Bubblewrap, Options{})
	w.repository()
	if err := os.RemoveAll(w.cwd + "/.git/hooks"); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"git config core.pager evil",
		"echo '[core]' >> .git/config",
		"rm -f .git/config",
		"echo x > .git/hooks/pre-commit",
		"mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
		"mv .git/hooks .git/old",
		"mv .git moved",
		"rm -rf .git; [ ! -e .git/config ]",
	} {
		w.refuses(Want{}, script)
	}
	w.git(w.cwd, "init", "-q") // what rm could remove
	w.expect(Want{GitSettings: true}, "git config core.pager less && echo x > .git/hooks/pre-commit")
}

func TestGitElsewhere(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.repository()
		tree := filepath.Join(w.home, "src/tree")
		w.git(w.cwd, "worktree", "add", "-q", "-b", "tree", tree)
		foreign := w.cwd
		w.cwd, w.session.Roots = tree, []string{tree}
		w.expect(Want{}, "git status && echo x > new && git add new && git commit -q -m 'in the tree' && git log --oneline")
		w.refuses(Want{}, "cat "+foreign+"/file")

		// A pointer that the repository does not return is nobody's grant.
		w.cwd = filepath.Join(w.home, "src/forged")
		w.session.Roots = []string{w.cwd}
		if err := os.Mkdir(w.cwd, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{foreign + "/.git", foreign + "/.git/worktrees/tree", w.home + "/.ssh", w.outside} {
			w.write(w.cwd+"/.git", "gitdir: "+dir+"\n")
			w.refuses(Want{}, "cat "+dir+"/*")
			w.refuses(Want{}, "echo x > "+dir+"/made")
		}
	})
}

func TestSubmodule(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.repository()
		super := filepath.Join(w.home, "src/super")
		w.git(w.home, "init", "-q", super)
		w.git(super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", w.cwd, "sub")
		w.cwd = filepath.Join(super, "sub")
		w.session.Roots = []string{w.cwd}
		w.expect(Want{}, "git status && echo x > new && git add new && git commit -q -m 'in the submodule'")
	})
}
