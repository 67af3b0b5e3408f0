package policy

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// grantFor decides a call that has to offer a grant and returns it.
func grantFor(t *testing.T, p *Policy, s Subject) Grant {
	t.Helper()
	d := p.Decide(s, nil, ModeAsk)
	if d.Verdict != Ask || d.Grant == nil {
		t.Fatalf("no grant offered: %s", d.Explain())
	}
	return *d.Grant
}

// TestP1GrantIsRemembered: what was granted runs without a question.
func TestP1GrantIsRemembered(t *testing.T) {
	p := newPolicy(supervised())
	for _, command := range []string{
		"git status", "git log --oneline", "go test ./...", "make", "rm x", "echo hi > a", "mkdir a && touch a/b",
		"mytool 'a b' '*'", "cd sub && make", "env LANG=C mytool",
	} {
		g := grantFor(t, p, shell(command))
		if d := p.Decide(shell(command), []Grant{g}, ModeAsk); d.Verdict != Allow || d.Risk == High {
			t.Errorf("%q after %+v: %s", command, g, d.Explain())
		}
	}
}

// TestP2GrantCoversNoMore: a grant covers the command it was given for.
func TestP2GrantCoversNoMore(t *testing.T) {
	p := newPolicy(supervised())
	tests := []struct{ granted, command, want string }{
		{"git status", "git status --short", allow},
		{"git status", "git status | head", allow},
		{"git status", "git push --force", ask},
		{"git status", "git push", askGrant},
		{"git status", "git status; rm -rf x", deny},
		{"git status", "git status; rm x", askGrant},
		{"git status", "git status $(mytool)", ask},
		{"git status", "git status > a", askGrant},
		{"git status", "git -C sub status", askGrant},
		{"git status", "git -c x=y status", ask},
		{"git status", "FOO=1 git status", ask},
		{"git status", "sudo git status", deny},
		{"git status", "./git status", askGrant},
		{"git log", "git log --output=x", ask},
		{"go test ./...", "go test -exec ./x ./...", ask},
		{"go test ./...", "go run x.go", askGrant},
		{"rm x", "rm y", askGrant},
		{"rm x", "rm x y", askGrant},
		{"mytool '*'", "mytool x", askGrant},
		{"mkdir a && touch b", "mkdir a && touch b", allow},
		{"mkdir a && touch b", "mkdir a && touch b && rm x", askGrant},
		{"mkdir a && touch b", "touch b", askGrant},
		{"echo hi > a", "mytool > a", askGrant},
		{"make", "make install", askGrant},
	}
	for _, tt := range tests {
		g := grantFor(t, p, shell(tt.granted))
		if d := p.Decide(shell(tt.command), []Grant{g}, ModeAsk); outcomeOf(d) != tt.want {
			t.Errorf("granted %q: %q is %s, want %s", tt.granted, tt.command, d.Explain(), tt.want)
		}
	}
}

func TestGrantHoldsWhereItWasGiven(t *testing.T) {
	p := newPolicy(supervised())
	g := grantFor(t, p, shell("make"))
	elsewhere := shell("make")
	elsewhere.Cwd = "/w/sub"
	if d := p.Decide(elsewhere, []Grant{g}, ModeAsk); d.Verdict != Ask {
		t.Errorf("in another directory: %s", d.Explain())
	}
	otherTool := shell("make")
	otherTool.Tool = "terminal"
	if d := p.Decide(otherTool, []Grant{g}, ModeAsk); d.Verdict != Ask {
		t.Errorf("by another tool: %s", d.Explain())
	}
}

func TestGrantedSettingsAndModesStillRefuse(t *testing.T) {
	g := []Grant{grantFor(t, newPolicy(supervised()), shell("make"))}
	asking, denying := supervised(), supervised()
	asking.AlwaysAsk, denying.Deny = []string{"shell(make *)"}, []string{"shell(make *)"}
	tests := []struct {
		name string
		set  Settings
		mode Mode
		want string
	}{
		{"always_ask", asking, ModeAsk, ask},
		{"deny", denying, ModeAsk, deny},
		{"plan", supervised(), ModePlan, deny},
	}
	for _, tt := range tests {
		if d := newPolicy(tt.set).Decide(shell("make"), g, tt.mode); outcomeOf(d) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, d.Explain(), tt.want)
		}
	}
}

func TestGrantLabels(t *testing.T) {
	p := newPolicy(supervised())
	tests := []struct {
		s    Subject
		want Grant
	}{
		{shell("git status"), Grant{
			GrantCommand, "shell", "git status *", "/w", false,
			"Always allow `git status` with any arguments in this session",
		}},
		{shell("rm 'a b'"), Grant{GrantCommand, "shell", "rm 'a b'", "/w", false, "Always allow `rm 'a b'` in this session"}},
		{shell("rm a; rm b"), Grant{GrantScript, "shell", "rm a; rm b", "/w", false, "Always allow exactly `rm a; rm b` in this session"}},
		{edit("/w/a"), Grant{GrantFiles, "file_write", "", "/w", false, "Always allow `file_write` in /w in this session"}},
		{fetch("docs.example.com"), Grant{
			GrantHost, "web_fetch", "docs.example.com", "/w", true,
			"Always allow `web_fetch` from docs.example.com in this session",
		}},
		{remote("files__put"), Grant{GrantTool, "files__put", "", "/w", false, "Always allow `files__put` in this session"}},
	}
	for _, tt := range tests {
		got := grantFor(t, p, tt.s)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		stored, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back Grant
		if err := json.Unmarshal(stored, &back); err != nil || back != got {
			t.Errorf("%s: %+v, %v", stored, back, err)
		}
	}
}

func fetch(host string) Subject {
	return Subject{Tool: "web_fetch", Kind: "fetch", Host: host, Network: true, Cwd: "/w"}
}

// TestFetchIsGrantedPerHost: leave for one host is not leave for another, and
// the network's setting comes first.
func TestFetchIsGrantedPerHost(t *testing.T) {
	set := supervised()
	set.Network = NetworkAsk
	p := newPolicy(set)
	g := []Grant{grantFor(t, p, fetch("docs.example.com"))}
	for host, want := range map[string]Verdict{"docs.example.com": Allow, "example.com": Ask, "docs.example.com:8080": Ask} {
		if d := p.Decide(fetch(host), g, ModeAsk); d.Verdict != want {
			t.Errorf("%s: %s", host, d.Explain())
		}
	}
	for network, want := range map[Network]Verdict{NetworkAllow: Allow, NetworkDeny: Deny} {
		set.Network = network
		if d := newPolicy(set).Decide(fetch("docs.example.com"), nil, ModeAsk); d.Verdict != want {
			t.Errorf("%s: %s", network, d.Explain())
		}
	}
	set.Network = NetworkAsk
	set.AlwaysAsk = []string{"web_fetch"}
	if d := newPolicy(set).Decide(fetch("docs.example.com"), g, ModeAsk); d.Verdict != Ask {
		t.Errorf("always_ask: %s", d.Explain())
	}
}
