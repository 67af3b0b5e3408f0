package policy

import "slices"

// Rights bound what a session may do, whatever its configuration, its mode or a
// person in it says: an owner's ceiling, or what the agent that started it has.
// The zero value bounds nothing.
type Rights struct {
	Level   Level   // at most this level; "" for any
	Mode    Mode    // at most this mode; "" for any the level has
	Network Network // at most this much of the network; "" for any
}

// Min returns the rights both leave: the lower of each bound.
func (r Rights) Min(o Rights) Rights {
	return Rights{
		Level:   lower(r.Level, o.Level, levels()),
		Mode:    lower(r.Mode, o.Mode, modes()),
		Network: lower(r.Network, o.Network, networks()),
	}
}

// Within returns the settings narrowed to the rights.
func (s Settings) Within(r Rights) Settings {
	level := lower(known(s.Level, levels(), ReadOnly), r.Level, levels())
	if s.Level == Full && level != Full {
		s.WorkspaceOnly = true // that it was off came with the level
	}
	s.Level = level
	s.Network = lower(known(s.Network, networks(), NetworkAsk), r.Network, networks())
	s.MaxMode = lower(s.MaxMode, r.Mode, modes())
	return s
}

// Rights are what a session of the given mode has to hand on: no agent it starts
// may do more.
func (p *Policy) Rights(m Mode) Rights {
	m = p.held(m)
	return Rights{Level: p.level(m), Mode: m, Network: known(p.set.Network, networks(), NetworkAsk)}
}

// Within returns the policy narrowed to the rights.
func (p *Policy) Within(r Rights) *Policy {
	if r == (Rights{}) {
		return p
	}
	bound := *p
	bound.set = p.set.Within(r)
	return &bound
}

// held is the mode that holds when a session is set to m.
func (p *Policy) held(m Mode) Mode {
	m = known(m, modes(), ModeAsk)
	if m == ModeFull && p.set.Level != Full {
		m = ModeAsk // it is none of this level's
	}
	return lower(m, p.set.MaxMode, modes())
}

// Modes lists the modes a session may choose from, the default first.
func (p *Policy) Modes() []Mode {
	return slices.DeleteFunc(Modes(p.set.Level), func(m Mode) bool { return p.held(m) != m })
}

func known[T ~string](v T, order []T, otherwise T) T {
	if slices.Contains(order, v) {
		return v
	}
	return otherwise
}

// The order of what rights bound, from narrow to wide.
func levels() []Level     { return []Level{ReadOnly, Supervised, Full} }
func modes() []Mode       { return []Mode{ModePlan, ModeAsk, ModeAcceptEdits, ModeFull} }
func networks() []Network { return []Network{NetworkDeny, NetworkAsk, NetworkAllow} }

// lower returns the narrower of two bounds, "" being none. A bound that is not
// known is the narrowest.
func lower[T ~string](a, b T, order []T) T {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return order[max(0, min(slices.Index(order, a), slices.Index(order, b)))]
}
