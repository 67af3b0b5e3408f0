package policy

// networked marks the parts of a command that would run with the network when
// any part of it has it: the command runs as one, so what is given to one is
// given to all. It reports whether the network is wanted at all.
func (j *judge) networked(steps []step) bool {
	wanted := j.s.Network
	for _, st := range steps {
		wanted = wanted || st.reaches
	}
	if !wanted {
		return false
	}
	any := false
	for i := range steps {
		steps[i].network = steps[i].couldReach()
		any = any || steps[i].network
	}
	for i := range steps {
		steps[i].network = steps[i].network || !any
	}
	return true
}

// couldReach reports a part whose program does with a network what nobody can
// tell beforehand. A known program that only reads or writes files does not.
func (st *step) couldReach() bool {
	return st.reaches || st.repo || st.hard || !st.known && !st.grammar
}

// network returns whether a call that is not refused runs with the network.
func (j *judge) network(wanted bool) bool {
	switch {
	case j.set.Network == NetworkDeny:
		return false
	case j.set.Network == NetworkAllow || j.level == Full:
		return true
	}
	return wanted
}

// asksNetwork reports whether using the network takes a person's leave.
func (j *judge) asksNetwork() bool {
	return j.set.Network != NetworkAllow && j.set.Network != NetworkDeny && j.level != Full
}

// Reasons of the rule "network".
const (
	networkDenied = "the configuration gives no command the network (autonomy.network)"
	networkAsks   = "it uses the network"
	networkShared = "it runs with the network another part asks for"
)

// networkReason is why a part asks for the network. Without a sandbox it would
// have the network in any case, which whoever is asked should know.
func (j *judge) networkReason(st step) string {
	reason := networkAsks
	switch {
	case !st.reaches && j.s.Network:
		reason = "the agent asks for the network"
	case !st.reaches:
		reason = networkShared
	}
	if st.reaches && st.reason != "" {
		reason = st.reason + "; " + reason
	}
	if !j.set.Sandboxed {
		reason += "; no sandbox could keep it from the network"
	}
	return reason
}

// deniedReason is why a part is refused the network.
func (j *judge) deniedReason() string {
	if j.set.Sandboxed {
		return networkDenied
	}
	return networkDenied + "; without a sandbox only commands known to use it can be refused"
}

// deniedNetwork is why a whole call is refused the network.
func (j *judge) deniedNetwork() string {
	if j.s.Command != "" || len(j.s.Argv) > 0 {
		return j.deniedReason()
	}
	return "the configuration denies the network (autonomy.network)"
}
