package policy

import (
	"fmt"
	"strings"
)

// Explain tells the decision in a few lines for a person: the verdict, the rule
// and, for a command of several parts, each part.
func (d Decision) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s risk): %s", d.Verdict, d.Risk, d.Rule)
	if d.Reason != "" {
		fmt.Fprintf(&b, ": %s", d.Reason)
	}
	if len(d.Steps) > 1 {
		for _, s := range d.Steps {
			fmt.Fprintf(&b, "\n  %-5s %s: %s", s.Verdict, s.Text, s.Rule)
			if s.Verdict != Allow && s.Reason != "" {
				fmt.Fprintf(&b, ": %s", s.Reason)
			}
		}
	}
	if d.Grant != nil {
		fmt.Fprintf(&b, "\n  %s", d.Grant.Label)
	}
	return b.String()
}
