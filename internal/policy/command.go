package policy

import (
	"cmp"
	"fmt"
	"strings"
)

// command decides a call that runs a command: the strictest of its parts holds.
func (j *judge) command() Decision {
	steps := j.scan()
	wanted := j.networked(steps)
	j.askTool = match(j.alwaysAsk, j.matches)
	d := Decision{Rule: "level " + string(j.level), Reason: "nothing in it needs asking"}
	asking := 0
	script := j.grantedScript(wanted)
	for _, st := range steps {
		judged := j.settle(st)
		if judged.Verdict == Ask && !judged.hard && script != nil {
			judged.Step = Step{Text: st.text, Rule: "grant", Reason: script.Label, Risk: st.risk}
		}
		if judged.Verdict == Ask {
			asking++
		}
		d.take(judged, asking)
	}
	if d.Verdict == Ask {
		d.Grant = j.offerCommand(steps)
	}
	d.Network = d.Verdict != Deny && j.network(wanted)
	if j.leaves() {
		d.outside()
	}
	return d
}

// take folds the judgement of one part into the whole.
func (d *Decision) take(s settled, asking int) {
	d.Steps = append(d.Steps, s.Step)
	d.Risk = max(d.Risk, s.Risk)
	if s.Verdict > d.Verdict || s.Verdict == Ask && d.Verdict == Ask && s.hard || len(d.Steps) == 1 {
		d.Verdict = max(d.Verdict, s.Verdict)
		d.Rule, d.Reason = s.Rule, s.Reason
		if len(d.Steps) > 1 || asking > 1 {
			d.Reason = fmt.Sprintf("`%s`: %s", s.Text, s.Reason)
		}
	}
}

// settled is a step with what the settings make of it.
type settled struct {
	Step
	hard bool
}

func (j *judge) scan() []step {
	sc := &scan{parse: j.parse, subject: j.s, home: j.set.Home, dirs: []string{j.s.Cwd}}
	if j.s.Command != "" {
		sc.script(j.s.Command)
	}
	if len(j.s.Argv) > 0 {
		words := make([]word, len(j.s.Argv))
		for i, a := range j.s.Argv {
			words[i] = literal(a)
		}
		sc.simple(words, func() string { return strings.Join(j.s.Argv, " ") })
	}
	return sc.steps
}

// settle applies level, lists and grants to one part, in the order of their
// weight.
func (j *judge) settle(st step) settled {
	out := func(v Verdict, rule, reason string) settled {
		return settled{Step{Text: st.text, Verdict: v, Rule: rule, Reason: reason, Risk: st.risk}, st.hard}
	}
	fits := func(p Pattern) bool { return st.pattern != "" && p.matchCommand(j.s.Tool, st.pattern) }
	touches := func(p Pattern) bool {
		return st.loose != "" && p.matchCommand(j.s.Tool, st.loose) || st.plain != "" && p.matchCommand(j.s.Tool, st.plain)
	}
	exact := func(p Pattern) bool { return p.exact() && fits(p) }
	if st.forbidden != "" {
		return out(Deny, "forbidden_paths", st.forbidden+" is forbidden")
	}
	if rule := match(j.deny, touches); rule != "" {
		return out(Deny, "deny "+rule, "the configuration forbids it")
	}
	if st.network && j.set.Network == NetworkDeny {
		return out(Deny, "network", j.deniedReason())
	}
	if j.level == Full {
		return out(Allow, "level full", "nothing is asked at this level")
	}
	if j.level == ReadOnly && (st.hard || st.risk > Low) {
		return out(Deny, "level readonly", st.reason)
	}
	if rule := cmp.Or(j.askTool, match(j.alwaysAsk, touches)); rule != "" {
		if st.risk == High {
			return j.settleHigh(st, out)
		}
		st.hard = true
		return out(Ask, "always_ask "+rule, "the configuration wants it asked about")
	}
	lent := st.network && !st.reaches && j.asksNetwork() // a network that no pattern speaks of
	if rule := match(j.autoApprove, exact); rule != "" && !lent {
		return out(Allow, "auto_approve "+rule, "the configuration allows exactly this")
	}
	if st.risk == High {
		return j.settleHigh(st, out)
	}
	if st.hard {
		return out(Ask, "dangerous form", st.reason)
	}
	return j.settleGrantable(st, fits, out)
}

type outcome func(Verdict, string, string) settled

// settleHigh refuses what is of high risk unless the configuration names it.
func (j *judge) settleHigh(st step, out outcome) settled {
	if entry := j.listed(st, false); entry != "" && (!st.form || strings.Contains(entry, " ")) {
		s := out(Ask, "high risk, named in allowed_commands", st.reason)
		s.hard = true
		return s
	}
	reason, name := st.reason, st.program
	if st.form {
		name = st.pattern
	}
	if name != "" {
		reason += "; it is refused unless allowed_commands names " + name
	}
	return out(Deny, "high risk", reason)
}

// settleGrantable decides what lists and grants may allow.
func (j *judge) settleGrantable(st step, fits func(Pattern) bool, out outcome) settled {
	tool := func(p Pattern) bool { return p.matchTool(j.s) || fits(p) }
	asksNetwork := st.network && j.asksNetwork()
	if asksNetwork { // only a pattern that names a command of the network allows it
		tool = func(p Pattern) bool { return st.reaches && p.namesProgram() && fits(p) }
	}
	if rule := match(j.autoApprove, tool); rule != "" {
		return out(Allow, "auto_approve "+rule, "the configuration allows it")
	}
	if g := j.grantedCommand(st); g != nil {
		return out(Allow, "grant", g.Label)
	}
	if asksNetwork {
		return out(Ask, "network", j.networkReason(st))
	}
	if j.mode == ModeAcceptEdits && (st.edit || st.edits && j.set.Sandboxed) {
		return out(Allow, "mode accept-edits", "edits within the session's directories flow")
	}
	switch {
	case st.risk == Medium:
		return out(Ask, "medium risk", st.reason)
	case st.repo && !j.set.Sandboxed:
		return out(Ask, "no sandbox", st.reason+", and no sandbox confines it")
	case st.repo && j.mode == ModeAcceptEdits:
		return out(Allow, "sandbox", "the sandbox confines code of the repository")
	case st.grammar:
		return out(Allow, "shell", "part of the shell")
	}
	entry := j.listed(st, true)
	switch {
	case entry != "":
		return out(Allow, "allowed_commands "+entry, "low risk")
	case !st.known:
		return out(Ask, "unknown command", st.reason)
	}
	return out(Ask, "not in allowed_commands", st.program+" is not in allowed_commands")
}

// beginsWith reports whether the first words of a pattern are those.
func beginsWith(pattern, words string) bool {
	rest, ok := strings.CutPrefix(pattern, words)
	return ok && strings.HasPrefix(rest, " ")
}

// listed returns the entry of allowed_commands that names the command. The
// entry "*" names none; it counts when any is set.
func (j *judge) listed(st step, any bool) string {
	for _, entry := range j.set.AllowedCommands {
		entry = strings.TrimSpace(entry)
		switch {
		case entry == "" || st.program == "":
		case entry == "*":
			if any {
				return entry
			}
		case entry == st.program, st.pattern == entry, strings.Contains(entry, " ") && beginsWith(st.pattern, entry):
			return entry
		}
	}
	return ""
}
