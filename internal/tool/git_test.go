package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func gitRepo(t *testing.T) *Env {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	env := newEnv(t, map[string]string{"f.txt": "one\n"})
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	gitDo(t, env, "init", "-q", "-b", "main")
	gitDo(t, env, "config", "user.email", "a@example.com")
	gitDo(t, env, "config", "user.name", "A")
	gitDo(t, env, "add", ".")
	gitDo(t, env, "commit", "-q", "-m", "first")
	writeFile(t, filepath.Join(env.Cwd, "f.txt"), "two\n")
	return env
}

func gitDo(t *testing.T, env *Env, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = env.Cwd
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestGitReads(t *testing.T) {
	env := gitRepo(t)
	env.Hands.Terminals = &clientTerminals{} // reads stay out of the user's terminals
	for input, want := range map[string]string{
		`{"args":["status","--short"]}`:                     " M f.txt\n",
		`{"args":["git","log","--format=%s"]}`:              "first\n",
		`{"args":["diff","--","f.txt"]}`:                    "-one\n+two\n",
		`{"args":["show","HEAD:f.txt"]}`:                    "one\n",
		`{"args":["branch","--list"]}`:                      "* main\n",
		`{"args":["branch"]}`:                               "* main\n",
		`{"args":["blame","-s","HEAD","--","f.txt"]}`:       "one\n",
		`{"args":["ls-files"]}`:                             "f.txt\n",
		`{"args":["rev-parse","--abbrev-ref","HEAD"]}`:      "main\n",
		`{"args":["diff","--text","--stat"]}`:               "1 file changed",
		`{"args":["log","--oneline","--","--output"]}`:      "[no output]",
		`{"args":["branch","--list","m*","--no-contains"]}`: "",
	} {
		if res := prepare(t, env, git{}, input).Run(t.Context(), &recorder{}); !strings.Contains(res.Text, want) {
			t.Errorf("%s: got %q, want %q in it", input, res.Text, want)
		}
	}
	call := prepare(t, env, git{}, `{"args":["diff","/etc/passwd","../x"]}`)
	if s := call.Subject; len(s.Paths) != 3 || s.Paths[1].InRoot || s.Paths[2].InRoot || strings.Join(s.Argv, " ") != "git diff /etc/passwd ../x" {
		t.Errorf("subject %+v", s)
	}
}

func TestGitRefuses(t *testing.T) {
	env := newEnv(t, nil)
	for _, args := range []string{
		`"push"`, `"-c","core.pager=x","log"`, `"--git-dir=/x","log"`, `"checkout","-"`, `"config","-l"`, `"help"`,
		`"log","--output=x"`, `"diff","--outp=x"`, `"diff","--output","x"`, `"log","--ext-diff"`, `"log","--textconv"`, `"diff","--textcon"`,
		`"diff","--no-index","a","b"`, `"log","--show-signature"`, `"log","--help"`, `"blame","--contents","/etc/passwd","f"`,
		`"branch","new"`, `"branch","-D","main"`, `"branch","-m","x"`, `"branch","--edit-description"`, `"branch","-a","x"`,
	} {
		refuses(t, env, git{}, `{"args":[`+args+`]}`, "use shell for it")
	}
	refuses(t, env, git{}, `{"args":[]}`, `"args" is missing`)
	refuses(t, env, git{}, `{"args":["git"]}`, `"args" is missing`)
	refuses(t, env, git{}, `{"args":["log","a\u0000"]}`, "NUL")
	refuses(t, env, git{}, `{"args":"log"}`, "must be an array")
}

// The configuration and attributes of a repository do not get to run programs.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	env := gitRepo(t)
	mark := filepath.Join(env.Cwd, "ran")
	script := filepath.Join(env.Cwd, "evil.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $0 $@ >>"+mark+"\ncat /dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(env.Cwd, ".gitattributes"), "*.txt diff=evil\n")
	for _, kv := range [][2]string{
		{"diff.external", script},
		{"diff.evil.textconv", script},
		{"diff.evil.command", script},
		{"core.fsmonitor", script},
		{"core.pager", script},
		{"gpg.program", script},
		{"log.showSignature", "true"},
		{"pager.log", script},
	} {
		gitDo(t, env, "config", kv[0], kv[1])
	}
	_ = os.Remove(mark) // setting up may have run it
	for _, args := range []string{
		`"status"`, `"diff"`, `"log","-p"`, `"show"`, `"blame","f.txt"`, `"ls-files","-m"`, `"log","--format=%G?"`, `"branch"`,
	} {
		if res := prepare(t, env, git{}, `{"args":[`+args+`]}`).Run(t.Context(), &recorder{}); res.IsError {
			t.Errorf("git %s: %s", args, res.Text)
		}
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("ran:\n%s", text)
	}
}
