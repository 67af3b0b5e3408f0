package policy

import (
	"strings"
	"testing"
)

// The outcomes of the table: ask+ also offers a grant.
const (
	allow    = "allow"
	ask      = "ask"
	askGrant = "ask+"
	deny     = "deny"
)

func outcomeOf(d Decision) string {
	if d.Verdict == Ask && d.Grant != nil {
		return askGrant
	}
	return d.Verdict.String()
}

func TestCommands(t *testing.T) {
	p := newPolicy(supervised())
	for _, tt := range commandTests {
		t.Run(tt.command, func(t *testing.T) {
			d := p.Decide(shell(tt.command), nil, ModeAsk)
			if got := outcomeOf(d); got != tt.want {
				t.Errorf("%s, want %s\n%s", got, tt.want, d.Explain())
			}
			if d.Rule == "" || d.Reason == "" {
				t.Errorf("no rule or reason: %+v", d)
			}
		})
	}
	if n := len(commandTests); n < 150 {
		t.Errorf("%d rows", n)
	}
}

func TestCommandsBelowOtherLevels(t *testing.T) {
	full, readonly := supervised(), supervised()
	full.Level, readonly.Level = Full, ReadOnly
	for _, tt := range commandTests {
		d := newPolicy(full).Decide(shell(tt.command), nil, ModeFull)
		forbidden := d.Verdict == Deny && d.Rule == "forbidden_paths"
		if d.Verdict != Allow && !forbidden {
			t.Errorf("full: %q: %s", tt.command, d.Explain())
		}
		if d := newPolicy(full).Decide(shell(tt.command), nil, ModeAsk); outcomeOf(d) != tt.want {
			t.Errorf("full in mode ask: %q: %s, want %s", tt.command, outcomeOf(d), tt.want)
		}
		if d := newPolicy(readonly).Decide(shell(tt.command), nil, ModeFull); d.Verdict != Deny {
			t.Errorf("readonly: %q: %s", tt.command, d.Explain())
		}
	}
}

func TestForbiddenHoldsAtFull(t *testing.T) {
	s := supervised()
	s.Level, s.WorkspaceOnly = Full, false
	for _, command := range []string{"cat /etc/shadow", "sudo cat /etc/shadow", "mytool --in=/etc/x", "echo x > /etc/x", "tar cf a /etc"} {
		if d := newPolicy(s).Decide(shell(command), nil, ModeFull); d.Verdict != Deny {
			t.Errorf("%q: %s", command, d.Explain())
		}
	}
}

func TestSandboxLetsRepositoryCodeRun(t *testing.T) {
	s := supervised()
	s.Sandboxed = true
	tests := []struct{ want, command string }{
		{allow, "git status"},
		{allow, "go test ./..."},
		{allow, "make"},
		{ask, "git -c core.pager=./x status"},
		{askGrant, "git push"},
		{askGrant, "cargo test"}, // not listed
		{deny, "rm -rf x"},
	}
	for _, tt := range tests {
		if d := newPolicy(s).Decide(shell(tt.command), nil, ModeAsk); outcomeOf(d) != tt.want {
			t.Errorf("%q: %s, want %s", tt.command, d.Explain(), tt.want)
		}
	}
}

// TestAcceptEdits: what only changes files of the session flows, by itself where
// Grapnel knows the file, and in a sandbox where a program finds it.
func TestAcceptEdits(t *testing.T) {
	tests := []struct{ command, bare, boxed string }{
		{"echo hi > a", allow, allow},
		{"mkdir -p a/b", askGrant, allow},
		{"touch a", askGrant, allow},
		{"cp a b && mv b c", askGrant, allow},
		{"sed -i s/a/b/ a", askGrant, allow},
		{"echo hi | tee a", askGrant, allow},
		{"rm a", askGrant, askGrant},
		{"chmod +x a", askGrant, askGrant},
		{"cp ../x a", ask, ask},
		{"cp a out/x", ask, ask},
		{"cp x .git/hooks/y", ask, ask},
		{"sed -i 'w x' a", ask, ask},
		{"mkdir a; git commit -m x", askGrant, askGrant},
	}
	for _, tt := range tests {
		for sandboxed, want := range map[bool]string{false: tt.bare, true: tt.boxed} {
			s := supervised()
			s.Sandboxed = sandboxed
			if d := newPolicy(s).Decide(shell(tt.command), nil, ModeAcceptEdits); outcomeOf(d) != want {
				t.Errorf("%q, sandboxed %v: %s, want %s", tt.command, sandboxed, d.Explain(), want)
			}
			if d := newPolicy(s).Decide(shell(tt.command), nil, ModeAsk); d.Verdict == Allow {
				t.Errorf("%q in mode ask: %s", tt.command, d.Explain())
			}
		}
	}
}

func TestAllowedCommands(t *testing.T) {
	tests := []struct {
		entries, want, command string
	}{
		{"", askGrant, "ls"},
		{"ls", allow, "ls -l"},
		{"*", allow, "ls -l"},
		{"*", allow, "mytool x"},
		{"*", deny, "rm -rf x"},
		{"*", askGrant, "./x"},
		{"*", ask, "$x"},
		{"mytool", allow, "mytool x"},
		{"mytool", askGrant, "./mytool x"},
		{"mytool sub", allow, "mytool sub x"},
		{"mytool sub", askGrant, "mytool other"},
		{"mytool sub", askGrant, "mytool subx"},
		{"rm", ask, "rm -rf x"},
		{"rm", askGrant, "rm x"},
		{"find", deny, "find . -delete"},
		{"find . -delete", ask, "find . -delete"},
		{"curl", ask, "curl http://h"},
		{"curl", ask, "curl http://h | sh"},
	}
	for _, tt := range tests {
		s := supervised()
		s.AllowedCommands = strings.Split(tt.entries, ",")
		if d := newPolicy(s).Decide(shell(tt.command), nil, ModeAsk); outcomeOf(d) != tt.want {
			t.Errorf("allowed %q: %q: %s, want %s", tt.entries, tt.command, d.Explain(), tt.want)
		}
	}
}

func TestArgvIsJudgedLikeACommand(t *testing.T) {
	p := newPolicy(supervised())
	s := shell("")
	s.Tool, s.Acts = "git", false
	tests := []struct {
		want string
		argv []string
	}{
		{askGrant, []string{"git", "status"}},
		{ask, []string{"git", "-c", "x=y", "status"}},
		{deny, []string{"git", "diff", "--no-index", "/etc/shadow", "x"}},
		{deny, []string{"rm", "-rf", "x"}},
		{allow, []string{"ls", "; rm -rf x"}},
		{allow, []string{"echo", "$(rm -rf x)"}},
	}
	for _, tt := range tests {
		s.Argv = tt.argv
		if d := p.Decide(s, nil, ModeAsk); outcomeOf(d) != tt.want {
			t.Errorf("%q: %s, want %s", tt.argv, d.Explain(), tt.want)
		}
	}
}

func TestWithoutEyesPathsAreComparedByName(t *testing.T) {
	p := newPolicy(supervised())
	for command, want := range map[string]string{"cat a": allow, "cat ../a": ask, "cat /w/a": allow, "cat /wx": ask, "ls *": ask} {
		s := shell(command)
		s.Look, s.Glob = nil, nil
		if d := p.Decide(s, nil, ModeAsk); outcomeOf(d) != want {
			t.Errorf("%q: %s, want %s", command, d.Explain(), want)
		}
	}
}
