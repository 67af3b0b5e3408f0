package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// checkResult is what config check --json prints.
type checkResult struct {
	File     string           `json:"file"`
	Valid    bool             `json:"valid"`
	Problems []config.Problem `json:"problems"`
}

func (i *invocation) configCheckCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration",
		Long: `Check config.toml and the environment's overrides, and print what is wrong with
file, line and column. It reads no secret and contacts nobody.

Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage.`,
		Args: arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			home, err := i.home()
			if err != nil {
				return err
			}
			problems := config.Check(home, i.env.Environ)
			if err := i.printCheck(home, problems, asJSON); err != nil {
				return err
			}
			if len(problems) > 0 {
				return &codeError{code: ExitFailed}
			}
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) printCheck(home config.Home, problems []config.Problem, asJSON bool) error {
	if asJSON {
		return printJSON(i.env.Stdout, checkResult{home.File(), len(problems) == 0, problems})
	}
	for _, p := range problems {
		fmt.Fprintln(i.env.Stdout, p.Error())
	}
	if len(problems) > 0 {
		return nil
	}
	verdict := "is valid"
	if _, err := os.Stat(home.File()); os.IsNotExist(err) {
		verdict = "does not exist; the defaults apply"
	}
	_, err := fmt.Fprintln(i.env.Stdout, home.File(), verdict)
	return err
}
