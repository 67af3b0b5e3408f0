package policy

// command decides a call that runs a command.
func (j *judge) command() Decision {
	return Decision{Verdict: Ask, Rule: "level supervised", Reason: "it runs a command", Risk: Medium}
}
