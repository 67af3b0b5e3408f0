package policy

// Reasons of the rule "outside_sandbox".
const (
	outsideAsks     = "it runs outside the sandbox, where it reaches what you reach: your files, keys, agents, other programs and the network"
	outsideRequired = "the configuration lets no command out of the sandbox (autonomy.sandbox_required)"
	outsideNetwork  = "outside the sandbox nothing keeps a command from the network, which the configuration gives to none (autonomy.network)"
	outsideUnasked  = "only a person may let a command out of the sandbox, and in mode full nobody is asked; run it without outside_sandbox, or have the user set another mode"
)

// leaves reports whether the call asks to run outside a sandbox. Without one,
// and for what is no command, there is nothing to leave.
func (j *judge) leaves() bool {
	return j.s.Outside && j.set.Sandboxed && (j.s.Command != "" || len(j.s.Argv) > 0)
}

// staysInside returns why no person could let a command out of the sandbox, ""
// when one could.
func (j *judge) staysInside() string {
	switch {
	case j.set.SandboxRequired:
		return outsideRequired
	case j.set.Network == NetworkDeny:
		return outsideNetwork
	case j.level == ReadOnly:
		return "this session only reads, and only inside the sandbox"
	case j.level == Full:
		return outsideUnasked
	}
	return ""
}

// outside makes the judgement of a command the one of the command outside the
// sandbox: what is not refused asks, whatever allows it otherwise, and no answer
// holds for the next time.
func (d *Decision) outside() {
	if d.Verdict == Deny {
		return
	}
	reason := outsideAsks
	if d.Verdict == Ask {
		reason += "; besides, " + d.Reason
	}
	d.Verdict, d.Rule, d.Reason, d.Risk = Ask, "outside_sandbox", reason, max(d.Risk, Medium)
	d.Outside, d.Network, d.Grant = true, true, nil
}
