package policy

import (
	"strings"
	"testing"
)

// outsideSettings have everything in them that lets commands flow.
func outsideSettings() Settings {
	return with(supervised(), func(s *Settings) {
		s.Sandboxed, s.Network = true, NetworkAllow
		s.AllowedCommands = append(s.AllowedCommands, "*", "ssh")
		s.AutoApprove = []string{"shell", "shell(*)", "shell(git push *)", "shell(git push)", "*"}
	})
}

// TestOutside holds what becomes of a command that asks to leave the sandbox:
// nothing makes it flow, and what is refused is refused.
func TestOutside(t *testing.T) {
	same := func(*Settings) {}
	level := func(l Level) func(*Settings) { return func(s *Settings) { s.Level = l } }
	const asks = "ask+net outside_sandbox"
	tests := []struct {
		name, command string
		set           func(*Settings)
		mode          Mode
		want          string // verdict, rule
		reason        string
	}{
		{"what flows", "ls", same, ModeAsk, asks, "your files, keys, agents"},
		{"what is approved exactly", "git push", same, ModeAsk, asks, "your files, keys, agents"},
		{"what is approved, where edits flow", "git push", same, ModeAcceptEdits, asks, ""},
		{"what only changes a file", "touch x", same, ModeAcceptEdits, asks, ""},
		{"what asks by itself", "rm -r x", func(s *Settings) { s.AllowedCommands = []string{"rm -r"} }, ModeAsk, asks, "besides, "},
		{"what always asks", "ls", func(s *Settings) { s.AlwaysAsk = []string{"shell"} }, ModeAsk, asks, "besides, "},
		{"a script", "cd sub && ls | wc -l; git status", same, ModeAsk, asks, ""},
		{"where the network asks", "git push", func(s *Settings) { s.Network = NetworkAsk }, ModeAsk, asks, ""},
		{"outside the roots", "cat ../x", same, ModeAsk, asks, "besides, "},
		{"a forbidden path", "cat /etc/passwd", same, ModeAsk, "deny forbidden_paths", "forbidden"},
		{"a forbidden path in a part", "ls; cat /home/u/.ssh/id", same, ModeAsk, "deny forbidden_paths", "forbidden"},
		{"high risk", "sudo ls", func(s *Settings) { s.AutoApprove = nil }, ModeAsk, "deny high risk", ""},
		{"denied", "git push", func(s *Settings) { s.Deny = []string{"shell(git push *)"} }, ModeAsk, "deny deny shell(git push *)", ""},
		{"denied as a tool", "ls", func(s *Settings) { s.Deny = []string{"shell"} }, ModeAsk, "deny deny shell", ""},
		{"a sandbox is required", "ls", func(s *Settings) { s.SandboxRequired = true }, ModeAsk, "deny outside_sandbox", "autonomy.sandbox_required"},
		{"no command has the network", "ls", func(s *Settings) { s.Network = NetworkDeny }, ModeAsk, "deny outside_sandbox", "autonomy.network"},
		{"planning", "ls", same, ModePlan, "deny mode plan", ""},
		{"readonly", "ls", level(ReadOnly), ModeAsk, "deny level readonly", ""},
		{"level full", "ls", level(Full), ModeFull, "deny outside_sandbox", "nobody is asked"},
		{"level full that asks", "ls", level(Full), ModeAsk, asks, ""},
		{"no sandbox", "ls", func(s *Settings) { s.Sandboxed = false }, ModeAsk, "allow+net auto_approve shell", ""},
		{"no sandbox, level full", "ls", with2(Full, func(s *Settings) { s.Sandboxed = false }), ModeFull, "allow+net level full", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			subject := shell(tt.command)
			subject.Outside = true
			d := newPolicy(with(outsideSettings(), tt.set)).Decide(subject, nil, tt.mode)
			if got := withNetwork(d) + " " + d.Rule; got != tt.want || !strings.Contains(d.Reason, tt.reason) {
				t.Errorf("%s, want %s, %q\n%s", got, tt.want, tt.reason, d.Explain())
			}
			if d.Outside != (tt.want == asks) || d.Outside && d.Risk == Low {
				t.Errorf("outside: %v, risk %s", d.Outside, d.Risk)
			}
		})
	}
}

// TestOutsideIsNoCall holds a call that acts by itself to its own rules.
func TestOutsideIsNoCall(t *testing.T) {
	reads := Subject{Tool: "git", Argv: []string{"git", "status"}, Cwd: "/w", Outside: true}
	if d := newPolicy(with(outsideSettings(), func(s *Settings) { s.Level = ReadOnly })).Decide(reads, nil, ModeAsk); d.Verdict != Deny {
		t.Errorf("a read at level readonly: %s", d.Explain())
	}
	file := edit("a")
	file.Outside = true
	if d := newPolicy(outsideSettings()).Decide(file, nil, ModeAcceptEdits); d.Verdict != Allow || d.Outside {
		t.Errorf("an edit: %s, outside %v", d.Explain(), d.Outside)
	}
}

// TestOutsideIsNeverGranted: what a person allowed for the session holds inside
// the sandbox.
func TestOutsideIsNeverGranted(t *testing.T) {
	p := newPolicy(with(supervised(), func(s *Settings) { s.Sandboxed = true }))
	for _, command := range []string{"git push", "touch x && git push", "./x"} {
		inside := shell(command)
		grant := grantFor(t, p, inside)
		if d := p.Decide(inside, []Grant{grant}, ModeAsk); d.Verdict != Allow || d.Outside {
			t.Errorf("%s inside: %s", command, d.Explain())
		}
		out := inside
		out.Outside = true
		whole := Grant{Kind: GrantScript, Tool: "shell", Pattern: command, Root: "/w", Network: true}
		if d := p.Decide(out, []Grant{grant, whole}, ModeAsk); outcomeOf(d) != "ask" || d.Rule != "outside_sandbox" {
			t.Errorf("%s outside: %s", command, d.Explain())
		}
	}
}
