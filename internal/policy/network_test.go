package policy

import (
	"strings"
	"testing"
)

// TestNetwork holds which commands get the network, by the setting of it. "+net"
// follows the outcome of a decision that gives it.
func TestNetwork(t *testing.T) {
	tests := []struct {
		command           string
		asks              bool // the agent asks for the network
		allow, ask, never string
	}{
		{"ls", false, "allow+net", "allow", "allow"},
		{"ls", true, "allow+net", "ask++net", "deny"},
		{"make", false, "allow+net", "allow", "allow"},
		{"make", true, "allow+net", "ask++net", "deny"},
		{"make | tail -5", true, "allow+net", "ask++net", "deny"},
		{"cd sub && make", true, "allow+net", "ask++net", "deny"},
		{"git status", false, "allow+net", "allow", "allow"},
		{"git push", false, "ask++net", "ask++net", "deny"},
		{"git fetch", false, "ask++net", "ask++net", "deny"},
		{"git push --force", false, "ask+net", "ask+net", "deny"},
		{"git submodule update", false, "ask++net", "ask++net", "deny"},
		{"git submodule status", false, "allow+net", "allow", "allow"},
		{"npm install", false, "ask++net", "ask++net", "deny"},
		{"npm test", false, "allow+net", "allow", "allow"},
		{"go get x", false, "ask++net", "ask++net", "deny"},
		{"go mod tidy", false, "ask++net", "ask++net", "deny"},
		{"go mod verify", false, "ask++net", "ask+", "ask+"},
		{"go build ./...", false, "allow+net", "allow", "allow"},
		{"cargo fetch", false, "ask++net", "ask++net", "deny"},
		{"pip install x", false, "ask++net", "ask++net", "deny"},
		{"pip list", false, "ask++net", "ask+", "ask+"},
		{"python3 -m pip install x", false, "ask++net", "ask++net", "deny"},
		{"gh pr list", false, "ask+net", "ask+net", "deny"},
		{"curl http://h", false, "deny", "deny", "deny"},
		{"ls > /dev/tcp/h/1", false, "deny", "deny", "deny"},
		{"openssl dgst a", false, "ask+net", "ask", "ask"},
		{"openssl s_client -connect h:1", false, "ask+net", "ask+net", "deny"},
		{"timeout 9 git fetch", false, "ask++net", "ask++net", "deny"},
		{"sh -c 'git fetch'", false, "ask++net", "ask++net", "deny"},
	}
	for _, tt := range tests {
		for _, c := range []struct {
			set  Network
			want string
		}{{NetworkAllow, tt.allow}, {NetworkAsk, tt.ask}, {"", tt.ask}, {"typo", tt.ask}, {NetworkDeny, tt.never}} {
			d := networkDecision(c.set, tt.command, tt.asks)
			if got := withNetwork(d); got != c.want {
				t.Errorf("network %q: %q (asking %v): %s, want %s\n%s", c.set, tt.command, tt.asks, got, c.want, d.Explain())
			}
			if c.set == NetworkDeny && d.Network {
				t.Errorf("%q has the network although it is denied", tt.command)
			}
		}
	}
}

func networkDecision(set Network, command string, asks bool) Decision {
	s := with(supervised(), func(s *Settings) { s.Network, s.Sandboxed = set, true })
	s.AllowedCommands = append(s.AllowedCommands, "cargo")
	subject := shell(command)
	subject.Network = asks
	return newPolicy(s).Decide(subject, nil, ModeAsk)
}

func withNetwork(d Decision) string {
	if d.Network {
		return outcomeOf(d) + "+net"
	}
	return outcomeOf(d)
}

// TestNetworkIsGivenToAllOrAsked: what one part is allowed, another does not get
// unasked.
func TestNetworkIsGivenToAllOrAsked(t *testing.T) {
	set := with(supervised(), func(s *Settings) {
		s.Sandboxed, s.AutoApprove = true, []string{"shell(git fetch *)", "shell(make *)", "shell(make all)", "shell"}
	})
	tests := []struct{ command, want string }{
		{"git fetch", "allow+net"},
		{"git fetch && ls", "allow+net"},
		{"make", "allow"},
		{"git fetch && make", "ask++net"},
		{"git fetch && make all", "ask++net"},
		{"git fetch && ./x", "ask++net"},
		{"git push", "ask++net"},
	}
	for _, tt := range tests {
		d := newPolicy(set).Decide(shell(tt.command), nil, ModeAsk)
		if got := withNetwork(d); got != tt.want {
			t.Errorf("%q: %s, want %s\n%s", tt.command, got, tt.want, d.Explain())
		}
	}
}

// TestNetworkGrants: a grant covers the network only where it was shown.
func TestNetworkGrants(t *testing.T) {
	p := newPolicy(with(supervised(), func(s *Settings) { s.Sandboxed = true }))
	online := shell("cargo test")
	online.Network = true
	plain := grantFor(t, p, shell("cargo test"))
	if d := p.Decide(online, []Grant{plain}, ModeAsk); d.Verdict != Ask || d.Rule != "network" {
		t.Errorf("a grant without the network: %s", d.Explain())
	}
	g := grantFor(t, p, online)
	if !g.Network || !strings.Contains(g.Label, "with the network") {
		t.Errorf("granted %+v", g)
	}
	for _, s := range []Subject{online, shell("cargo test")} {
		if d := p.Decide(s, []Grant{g}, ModeAsk); d.Verdict != Allow || d.Network != s.Network {
			t.Errorf("network %v: %s", s.Network, d.Explain())
		}
	}
	both := shell("mkdir x && cargo test")
	both.Network = true
	if d := p.Decide(both, []Grant{grantFor(t, p, both)}, ModeAsk); d.Verdict != Allow || !d.Network {
		t.Errorf("a script: %s", d.Explain())
	}
	if d := p.Decide(both, []Grant{grantFor(t, p, shell(both.Command))}, ModeAsk); d.Verdict != Ask {
		t.Errorf("a script granted without the network: %s", d.Explain())
	}
}

func TestNetworkAtFull(t *testing.T) {
	full := with(supervised(), func(s *Settings) { s.Level = Full })
	for set, want := range map[Network]string{NetworkAllow: "allow+net", NetworkAsk: "allow+net", NetworkDeny: "deny"} {
		full.Network = set
		if d := newPolicy(full).Decide(shell("git push"), nil, ModeFull); withNetwork(d) != want {
			t.Errorf("%s: %s, want %s", set, d.Explain(), want)
		}
	}
}

// TestNetworkSaysWhatCannotBeConfined tells the truth where no sandbox works.
func TestNetworkSaysWhatCannotBeConfined(t *testing.T) {
	for set, want := range map[Network]string{NetworkAsk: "no sandbox could keep it", NetworkDeny: "without a sandbox only commands known"} {
		s := with(supervised(), func(s *Settings) { s.Network = set })
		subject := shell("ls")
		subject.Network = true
		if d := newPolicy(s).Decide(subject, nil, ModeAsk); d.Rule != "network" || !strings.Contains(d.Reason, want) {
			t.Errorf("%s: %s", set, d.Explain())
		}
	}
}

// TestNetworkOfOtherTools: a tool that fetches by itself is judged likewise.
func TestNetworkOfOtherTools(t *testing.T) {
	fetch := Subject{Tool: "web_fetch", Kind: "fetch", Network: true, Cwd: "/w"}
	tests := []struct {
		set  func(*Settings)
		mode Mode
		want string
	}{
		{func(s *Settings) { s.Network = NetworkAllow }, ModeAsk, "allow+net"},
		{func(*Settings) {}, ModeAsk, "ask++net"},
		{func(*Settings) {}, ModeAcceptEdits, "ask++net"},
		{func(s *Settings) { s.AutoApprove = []string{"web_fetch"} }, ModeAsk, "allow+net"},
		{func(s *Settings) { s.Network = NetworkDeny }, ModeAsk, "deny"},
		{func(s *Settings) { s.Network, s.Level = NetworkDeny, Full }, ModeFull, "deny"},
	}
	for _, tt := range tests {
		d := newPolicy(with(supervised(), tt.set)).Decide(fetch, nil, tt.mode)
		if got := withNetwork(d); got != tt.want {
			t.Errorf("%s, want %s: %s", got, tt.want, d.Explain())
		}
	}
}
