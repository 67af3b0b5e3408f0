package policy

import "testing"

// TestP2GrantHoldsForOneSource: a tool of the same name from another server, or
// described otherwise, is asked about anew.
func TestP2GrantHoldsForOneSource(t *testing.T) {
	p := newPolicy(supervised())
	one, other := remote("files__put"), remote("files__put")
	one.Source, other.Source = "a", "b"
	g := grantFor(t, p, one)
	if d := p.Decide(one, []Grant{g}, ModeAsk); d.Verdict != Allow {
		t.Errorf("the same tool: %s", d.Explain())
	}
	if d := p.Decide(other, []Grant{g}, ModeAsk); d.Verdict != Ask || d.Grant == nil {
		t.Errorf("another server's tool: %s", d.Explain())
	}
}
