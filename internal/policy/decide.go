package policy

import (
	"fmt"
	"slices"
)

// judge is one decision in the making.
type judge struct {
	*Policy
	s      *Subject
	grants []Grant
	mode   Mode
	level  Level
	// askTool is the entry of always_ask for the tool as a whole, if any.
	askTool string
}

// Decide judges a call in a session of the given mode. grants are what a person
// has allowed in that session so far.
func (p *Policy) Decide(s Subject, grants []Grant, mode Mode) Decision {
	for _, f := range s.Paths {
		s.Acts = s.Acts || f.Write
	}
	mode = p.held(mode)
	j := &judge{Policy: p, s: &s, grants: grants, mode: mode, level: p.level(mode)}
	if d, ok := j.refused(); ok {
		return d
	}
	if s.Command != "" || len(s.Argv) > 0 {
		return j.command()
	}
	d := j.call()
	d.Network = s.Network && d.Verdict != Deny
	return d
}

// call decides a call that runs no command.
func (j *judge) call() Decision {
	if j.level == Full {
		return Decision{Rule: "level full", Reason: "nothing is asked at this level"}
	}
	if rule := match(j.alwaysAsk, j.matches); rule != "" {
		return Decision{Verdict: Ask, Rule: "always_ask " + rule, Reason: "the configuration wants every such call asked about", Risk: j.risk()}
	}
	if j.s.Acts || j.s.Network && j.asksNetwork() {
		return j.action()
	}
	return j.read()
}

// refused looks for what no list and nobody can allow.
func (j *judge) refused() (Decision, bool) {
	deny := func(rule, reason string, args ...any) (Decision, bool) {
		return Decision{Verdict: Deny, Rule: rule, Reason: fmt.Sprintf(reason, args...), Risk: High}, true
	}
	for _, f := range j.s.Paths {
		if f.Forbidden {
			return deny("forbidden_paths", "%s is forbidden", f.Abs)
		}
	}
	if rule := match(j.deny, j.matches); rule != "" {
		return deny("deny "+rule, "the configuration forbids it")
	}
	if j.s.Network && j.set.Network == NetworkDeny {
		return deny("network", "%s", j.deniedNetwork())
	}
	if j.level == ReadOnly && j.s.Acts {
		if j.mode == ModePlan && j.set.Level != ReadOnly {
			return deny("mode plan", "%s changes something, and this session only plans", j.s.Tool)
		}
		return deny("level readonly", "%s changes something, and this agent may only read", j.s.Tool)
	}
	if reason := j.staysInside(); j.leaves() && reason != "" {
		return deny("outside_sandbox", "%s", reason)
	}
	for _, f := range j.s.Paths {
		if !f.InRoot && j.set.WorkspaceOnly && j.level != Full {
			return deny("workspace_only", "%s is outside the session's directories", f.Abs)
		}
	}
	return Decision{}, false
}

// read decides a call that only reads: it flows inside the roots.
func (j *judge) read() Decision {
	for _, f := range j.s.Paths {
		if !f.InRoot && !j.approvedPath(f) {
			return Decision{
				Verdict: Ask, Rule: "outside the roots", Risk: Medium,
				Reason: f.Abs + " is outside the session's directories",
			}
		}
	}
	if j.s.Network {
		return Decision{Rule: "network", Reason: "the configuration allows the network (autonomy.network)"}
	}
	return Decision{Rule: "reads flow", Reason: "it reads within the session's directories"}
}

// action decides a call that acts and is not a command: an edit or something
// only known by its tool.
func (j *judge) action() Decision {
	d := Decision{Verdict: Ask, Rule: "level supervised", Risk: j.risk(), Reason: j.s.Tool + " changes something"}
	if j.s.Network && j.asksNetwork() {
		d.Rule, d.Reason = "network", j.s.Tool+" uses the network"
	}
	if reason := j.mustAsk(); reason != "" {
		d.Reason = reason
		return d
	}
	if rule := match(j.autoApprove, j.covers); rule != "" {
		return Decision{Rule: "auto_approve " + rule, Reason: "the configuration allows it", Risk: d.Risk}
	}
	if j.mode == ModeAcceptEdits && j.isEdit() && d.Rule != "network" {
		return Decision{Rule: "mode accept-edits", Reason: "edits within the session's directories flow", Risk: d.Risk}
	}
	d.Grant = j.offer()
	if g := j.granted(d.Grant); g != nil {
		return Decision{Rule: "grant", Reason: g.Label, Risk: d.Risk}
	}
	return d
}

// mustAsk returns why a call asks whatever the lists and grants say.
func (j *judge) mustAsk() string {
	for _, f := range j.s.Paths {
		if !f.InRoot && !j.approvedPath(f) {
			return f.Abs + " is outside the session's directories"
		}
		if f.Write && runsCode(f.Abs) {
			return f.Abs + " can make later commands run other programs"
		}
	}
	return ""
}

// isEdit reports whether the call only writes files inside the roots, judged by
// its paths and not by what it calls itself.
func (j *judge) isEdit() bool {
	if j.s.Server != "" || len(j.s.Paths) == 0 || j.s.Kind == "delete" || j.s.Kind == "move" {
		return false
	}
	for _, f := range j.s.Paths {
		if !f.InRoot {
			return false
		}
	}
	return true
}

func (j *judge) risk() Risk {
	switch {
	case !j.s.Acts:
		return Low
	case j.s.Kind == "delete":
		return High
	}
	return Medium
}

// matches reports whether a pattern touches the call at all, also as what else
// the call does; covers whether it speaks for all of it.
func (j *judge) matches(p Pattern) bool {
	if touches(p, j.s) {
		return true
	}
	as := *j.s
	as.Tool = j.s.As
	return as.Tool != "" && touches(p, &as)
}

func touches(p Pattern, s *Subject) bool {
	if p.matchTool(s) {
		return true
	}
	return slices.ContainsFunc(s.Paths, func(f Path) bool { return p.matchPath(s, f) })
}

func (j *judge) covers(p Pattern) bool {
	if p.matchTool(j.s) {
		return true
	}
	for _, f := range j.s.Paths {
		if !p.matchPath(j.s, f) {
			return false
		}
	}
	return len(j.s.Paths) > 0
}

// approvedPath reports whether a pattern of auto_approve names the path; the
// bare name of a tool does not reach outside the roots.
func (j *judge) approvedPath(f Path) bool {
	return match(j.autoApprove, func(p Pattern) bool { return p.matchPath(j.s, f) }) != ""
}

// match returns the first pattern that fits, "" when none does.
func match(list []Pattern, fits func(Pattern) bool) string {
	for _, p := range list {
		if fits(p) {
			return p.String()
		}
	}
	return ""
}
