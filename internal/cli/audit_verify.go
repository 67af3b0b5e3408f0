package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

func (i *invocation) auditVerifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the record is whole and unchanged",
		Long: `Follow the chain of hashes through the audit log, and name the first line that was
changed, moved, cut short or is missing. A line that a crash cut short is accounted
for by the one after it and counts as whole.

Exit codes: 0 intact, 1 not, 2 wrong usage.`,
		Args: arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			r, err := audit.Verify(c.DataPath())
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(i.env.Stdout, r)
			} else {
				_, err = fmt.Fprintln(i.env.Stdout, verdictOn(r))
			}
			if err == nil && !r.Intact {
				err = &codeError{code: ExitFailed}
			}
			return err
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// verdictOn says what verify found.
func verdictOn(r audit.Report) string {
	switch {
	case r.Bad != nil && r.Bad.Line == 0:
		return fmt.Sprintf("not intact: %s, after line number %d: %s", r.Bad.File, r.Last, r.Bad.Why)
	case r.Bad != nil:
		return fmt.Sprintf("not intact: %s, line %d (number %d): %s", r.Bad.File, r.Bad.Line, r.Bad.Seq, r.Bad.Why)
	case r.Lines == 0:
		return "intact: nothing is recorded yet"
	}
	text := fmt.Sprintf("intact: lines number %d to %d", r.First, r.Last)
	if r.First > 1 {
		text += "; older files were put elsewhere"
	}
	if r.Repaired > 0 {
		text += fmt.Sprintf("; cut short by a crash and accounted for: %d", r.Repaired)
	}
	return text
}
