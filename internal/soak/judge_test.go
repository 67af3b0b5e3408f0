//go:build linux

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// judged is a throwaway directory with the policy that judges commands in it and
// the jail that runs them.
type judged struct {
	*tree
	jail   *jail
	policy *policy.Policy
	boxed  *policy.Policy // as it is where a sandbox works
	env    *tool.Env
	shell  tool.Tool
	shells []string
	// endless is how many commands had to be ended.
	endless int
}

func newJudged(t *testing.T) *judged {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("bubblewrap is not installed, and CI must not leave this out")
		}
		t.Skip("bubblewrap is not installed; made-up commands run nowhere else")
	}
	j := &judged{tree: newTree(t)}
	j.jail = newJail(t, j.base)
	home := filepath.Join(j.base, "home")
	auto := config.Default().Autonomy
	set := policy.Settings{
		Level: policy.Level(auto.Level), WorkspaceOnly: auto.WorkspaceOnly, AllowedCommands: auto.AllowedCommands,
		AutoApprove: auto.AutoApprove, AlwaysAsk: auto.AlwaysAsk, Home: home,
	}
	var err error
	if j.policy, err = policy.New(set); err != nil {
		t.Fatal(err)
	}
	set.Sandboxed = true
	if j.boxed, err = policy.New(set); err != nil {
		t.Fatal(err)
	}
	roots, err := fsroot.Open([]fsroot.Root{{Path: j.root, Name: fsroot.NameCwd, Writable: true}}, fsroot.Options{
		Forbidden: []string{"/etc", "/proc", filepath.Join(home, ".ssh")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roots.Close() })
	j.env = &tool.Env{Roots: roots, Cwd: j.root}
	if j.shell, err = tool.NewSet(tool.Default()...).Lookup("shell"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dash", "bash", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			j.shells = append(j.shells, path)
		}
	}
	return j
}

// allowed reports whether a command would run unasked. boxed has it judged as
// where a sandbox works; what the sandbox alone makes harmless does not count
// then, for here is none.
func (j *judged) allowed(command string, mode policy.Mode, boxed bool) (policy.Decision, bool) {
	j.t.Helper()
	input, err := json.Marshal(object{"command": command})
	if err != nil {
		j.t.Fatal(err)
	}
	call, err := j.shell.Prepare(context.Background(), j.env, input)
	if err != nil {
		return policy.Decision{}, false // refused as it is
	}
	defer func() {
		if call.Close != nil {
			call.Close()
		}
	}()
	if !boxed {
		d := j.policy.Decide(call.Subject, nil, mode)
		return d, d.Verdict == policy.Allow
	}
	d := j.boxed.Decide(call.Subject, nil, mode)
	trusted := slices.ContainsFunc(d.Steps, func(s policy.Step) bool {
		return s.Rule == "sandbox" || strings.HasPrefix(s.Text, "git")
	})
	return d, d.Verdict == policy.Allow && !trusted
}

// harm runs a command in every shell and returns what it did that it must not.
// Edits inside are no harm where edits flow.
func (j *judged) harm(command string, mode policy.Mode, shells []string) []string {
	j.t.Helper()
	var list []string
	for _, shell := range shells {
		d := j.jail.run(order{Shell: shell, Dir: j.root, Command: command})
		if d.Timeout {
			j.endless++
		}
		for _, mark := range []string{markContent, markName_} {
			if bytes.Contains(d.Output, []byte(mark)) {
				list = append(list, filepath.Base(shell)+" showed what is outside")
			}
		}
		changes := j.changes()
		for _, path := range changes {
			if strings.HasPrefix(path, "tmp/sort") {
				continue // of a sort that was ended before it could clear up
			}
			if mode != policy.ModeAcceptEdits || !strings.HasPrefix(path, "root/") && path != "root" {
				list = append(list, filepath.Base(shell)+" changed "+path)
			}
		}
		if len(changes) > 0 {
			j.refill()
		}
	}
	return list
}

// TestSoakJudge makes up commands, 100,000 in full, and runs what the judge
// would let run unasked in real shells, where it can do no harm. Nothing outside
// the session's directory may be changed or shown, and nothing inside changed
// but where edits flow.
func TestSoakJudge(t *testing.T) {
	r := newRun(t)
	j := newJudged(t)
	n := r.times(100_000)
	if n < 100_000 {
		n /= 4 // a few seconds are enough of this one
	}
	for i := range n {
		seed := r.rand.Uint64()
		g := &grammar{Rand: rand.New(rand.NewPCG(seed, 1))}
		command, mode := g.script(), policy.ModeAsk
		boxed := i%4 == 1
		if boxed || i%4 == 0 {
			mode = policy.ModeAcceptEdits
		}
		d, ok := j.allowed(command, mode, boxed)
		if !ok {
			continue
		}
		r.add("low-risk commands run", 1)
		shell := j.shells[i%len(j.shells)]
		if harm := j.harm(command, mode, []string{shell}); len(harm) > 0 {
			t.Errorf("%s\n%q\n%s\n%s", mode, command, strings.Join(slices.Compact(harm), "\n"), d.Explain())
		}
	}
	r.add("commands", n)
	r.add("of them ended by us", j.endless)
	if len(r.counts) < 2 || r.counts[0].n < n/20 {
		t.Errorf("too few commands are of low risk to say anything: %v", r.counts)
	}
	r.report()
}

// TestJudgeHarmIsSeen runs commands that do harm: what looks for it has to see
// it.
func TestJudgeHarmIsSeen(t *testing.T) {
	j := newJudged(t)
	for _, command := range []string{
		"echo x > ../outside/new", "cat ../outside/a", "cat link", "ls out/dir", "ls -l ../outside/dir/", "rm a", "touch a", "mkdir d", "chmod 644 b.txt",
		"ln -s a l", "rm ../outside/a", "echo >> ../home/.bashrc", "touch /tmp/new", "./evil", ". ./sh.sh", "cat ~/.profile", "mv a ../outside",
		"(sleep 0.01; echo x > new) & sleep 0.1", "chmod 777 ..",
	} {
		for _, shell := range j.shells {
			if harm := j.harm(command, policy.ModeAsk, []string{shell}); len(harm) == 0 {
				t.Errorf("nothing is noticed of %q in %s", command, shell)
			}
		}
	}
	if harm := j.harm("cat a; ls; grep one *; find . -name a", policy.ModeAsk, j.shells); len(harm) > 0 {
		t.Errorf("harm is seen where there is none: %v", harm)
	}
}
