package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (i *invocation) configShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the effective configuration",
		Long: `Print the configuration as it takes effect: defaults, the file and the
environment's overrides. Secrets are redacted; references such as env:NAME are
shown. What is empty is left out of the TOML, not of the JSON.`,
		Args: arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			if !asJSON {
				_, err = fmt.Fprint(i.env.Stdout, c.TOML())
				return err
			}
			all, err := c.Get(nil)
			if err != nil {
				return err
			}
			return printJSON(i.env.Stdout, all)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
