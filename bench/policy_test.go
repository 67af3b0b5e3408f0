package bench

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// BenchmarkPolicyCommand judges commands as agents write them, parsed, with
// their paths looked up on disk.
func BenchmarkPolicyCommand(b *testing.B) {
	p, prepare := judging(b)
	commands := []string{
		"go test ./...", "git status", "ls -la src", "grep -rn TODO src | head -20", "cd src && go build ./... 2>&1 | tail -5",
		"git commit -m 'parser: keep what is not known'", "sed -n '1,40p' src/main.go", "npm install",
	}
	subjects := make([]policy.Subject, len(commands))
	for i, c := range commands {
		subjects[i] = prepare("shell", map[string]string{"command": c})
	}
	benchDecisions(b, p, subjects)
}

// BenchmarkPolicyPath judges a read and an edit of files whose paths are
// resolved.
func BenchmarkPolicyPath(b *testing.B) {
	p, prepare := judging(b)
	benchDecisions(b, p, []policy.Subject{
		prepare("file_read", map[string]string{"path": "src/main.go"}),
		prepare("file_write", map[string]string{"path": "src/main.go", "content": "package main\n"}),
	})
}

// judging is the default policy, and the tools' own way to the facts it judges.
func judging(b *testing.B) (*policy.Policy, func(tool string, input map[string]string) policy.Subject) {
	b.Helper()
	dir := b.TempDir()
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "src"), 0o700), os.WriteFile(filepath.Join(dir, "src", "main.go"), []byte("package main\n"), 0o600))
	if err != nil {
		b.Fatal(err)
	}
	roots, err := fsroot.Open([]fsroot.Root{{Path: dir, Name: "cwd", Writable: true}}, fsroot.Options{Forbidden: []string{"/etc"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = roots.Close() })
	a := config.Default().Autonomy
	p, err := policy.New(policy.Settings{
		Level: policy.Supervised, WorkspaceOnly: true, AllowedCommands: a.AllowedCommands, AutoApprove: a.AutoApprove,
		Deny: []string{"shell(git push * --force)"}, AlwaysAsk: []string{"file_write(**/*.pem)"}, Home: "/home/you", Sandboxed: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	set := tool.NewSet(tool.Default()...)
	return p, func(name string, input map[string]string) policy.Subject {
		t, err := set.Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		call, err := t.Prepare(b.Context(), &tool.Env{Roots: roots, Cwd: dir}, inputOf(b, input))
		if err != nil {
			b.Fatal(err)
		}
		if call.Close != nil {
			b.Cleanup(call.Close)
		}
		return call.Subject
	}
}

func benchDecisions(b *testing.B, p *policy.Policy, subjects []policy.Subject) {
	b.Helper()
	var s sample
	for b.Loop() {
		s.add(func() {
			for i := range rounds {
				if d := p.Decide(subjects[i%len(subjects)], nil, policy.ModeAsk); d.Rule == "" {
					b.Fatal("no rule decided")
				}
			}
		})
	}
	b.ReportMetric(us(s.p50())/rounds, "us-p50")
}

// inputOf is the input as JSON.
func inputOf(b *testing.B, input map[string]string) jsontext.Value {
	b.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		b.Fatal(err)
	}
	return text
}
