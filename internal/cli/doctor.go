package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/doctor"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// examined is what doctor --json prints.
type examined struct {
	OK       bool             `json:"ok"`
	Findings []doctor.Finding `json:"findings"`
}

func (i *invocation) doctorCommand() *cobra.Command {
	var asJSON, offline bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps grapnel from working",
		Long: `Check the configuration, the directories, the session store, the agents with
their providers and keys, and what the system has to offer; say what is wrong and
what to do about it. It changes nothing and shows no key. Each provider is asked
for its models, unless --offline.

Exit codes: 0 everything works, 1 something does not, 2 wrong usage.`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			home, err := i.home()
			if err != nil {
				return err
			}
			findings := app.Doctor(cmd.Context(), app.Examination{Home: home, Environ: i.env.Environ, Offline: offline})
			failed := doctor.Failed(findings)
			if asJSON {
				err = printJSON(i.env.Stdout, examined{!failed, findings})
			} else {
				err = printFindings(i.env.Stdout, findings)
			}
			if err == nil && failed {
				err = &codeError{code: ExitFailed}
			}
			return err
		}),
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&offline, "offline", false, "contact no provider")
	return cmd
}

func printFindings(w io.Writer, findings []doctor.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintf(w, "%-4s  %-11s  %s\n", f.Status, f.Check, printable.Line(f.Message)); err != nil {
			return err
		}
		if f.Fix != "" {
			fmt.Fprintf(w, "%-4s  %-11s  fix: %s\n", "", "", printable.Line(f.Fix))
		}
	}
	return nil
}
