package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMinOfRights(t *testing.T) {
	tests := []struct{ a, b, want Rights }{
		{Rights{}, Rights{}, Rights{}},
		{Rights{Level: Full}, Rights{}, Rights{Level: Full}},
		{Rights{Level: Full}, Rights{Level: ReadOnly}, Rights{Level: ReadOnly}},
		{Rights{Mode: ModeFull}, Rights{Mode: ModeAsk}, Rights{Mode: ModeAsk}},
		{Rights{Network: NetworkAllow}, Rights{Network: NetworkDeny}, Rights{Network: NetworkDeny}},
		{Rights{Level: "typo"}, Rights{Level: Full}, Rights{Level: ReadOnly}},
		{Rights{Supervised, ModePlan, NetworkAsk}, Rights{ReadOnly, ModeFull, NetworkAllow}, Rights{ReadOnly, ModePlan, NetworkAsk}},
	}
	for _, tt := range tests {
		for _, got := range []Rights{tt.a.Min(tt.b), tt.b.Min(tt.a)} {
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%+v and %+v (-want +got)\n%s", tt.a, tt.b, diff)
			}
		}
	}
}

// everyRights are all bounds there are, and none.
func everyRights() []Rights {
	var all []Rights
	for _, l := range append(levels(), "") {
		for _, m := range append(modes(), "") {
			for _, n := range append(networks(), "") {
				all = append(all, Rights{l, m, n})
			}
		}
	}
	return all
}

// TestNothingWidens: within any rights a call is decided no more freely than
// without, whatever mode is asked for, and no more freely than by whoever handed
// the rights on.
func TestNothingWidens(t *testing.T) {
	subjects := []Subject{read("a"), read("../x"), edit("a"), remote("files__put"), shell("ls"), shell("make"), shell("git push"), shell("rm -rf x")}
	online := shell("make")
	online.Network = true
	subjects = append(subjects, online)
	for _, l := range append(levels(), "", "typo") {
		for _, n := range append(networks(), "") {
			set := supervised()
			set.Level, set.Network, set.WorkspaceOnly, set.Sandboxed = l, n, l != Full, true
			for _, r := range everyRights() {
				checkWithin(t, set, r, subjects)
			}
		}
	}
}

func checkWithin(t *testing.T, set Settings, r Rights, subjects []Subject) {
	t.Helper()
	free := newPolicy(set)
	bound := free.Within(r)
	if d := cmp.Diff(newPolicy(set.Within(r)).Modes(), bound.Modes()); d != "" {
		t.Errorf("%+v within %+v (-settings +policy):\n%s", set, r, d)
	}
	for _, m := range append(modes(), "", "typo") {
		child := newPolicy(set.Within(bound.Rights(m)))
		for _, s := range subjects {
			wide, narrow := free.Decide(s, nil, m), bound.Decide(s, nil, m)
			if freer(narrow, wide) {
				t.Errorf("%+v within %+v in mode %q: %s, without %s", set.Level, r, m, narrow.Explain(), wide.Explain())
			}
			for _, chosen := range append(modes(), "", "typo") {
				if d := child.Decide(s, nil, chosen); freer(d, narrow) {
					t.Errorf("%s started in mode %q may in mode %q: %s, its parent %s", set.Level, m, chosen, d.Explain(), narrow.Explain())
				}
			}
		}
	}
}

func freer(a, b Decision) bool {
	return a.Verdict < b.Verdict || a.Network && !b.Network && b.Verdict != Deny
}

func TestModesWithinRights(t *testing.T) {
	tests := []struct {
		level Level
		r     Rights
		want  []Mode
	}{
		{Full, Rights{}, []Mode{ModeFull, ModeAsk, ModeAcceptEdits, ModePlan}},
		{Full, Rights{Level: Supervised}, []Mode{ModeAsk, ModeAcceptEdits, ModePlan}},
		{Full, Rights{Mode: ModeAsk}, []Mode{ModeAsk, ModePlan}},
		{Supervised, Rights{Level: Full, Mode: ModeFull}, []Mode{ModeAsk, ModeAcceptEdits, ModePlan}},
		{Supervised, Rights{Mode: ModePlan}, []Mode{ModePlan}},
		{Full, Rights{Level: ReadOnly}, []Mode{ModePlan}},
	}
	for _, tt := range tests {
		got := newPolicy(Settings{Level: tt.level}.Within(tt.r)).Modes()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s within %+v (-want +got)\n%s", tt.level, tt.r, diff)
		}
	}
}
