package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
)

func (i *invocation) configGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get PATH",
		Short: "Print one effective setting",
		Long: `Print one setting or section as it takes effect: the default, the file's or the
environment's. Secrets are redacted. A setting without a value prints an empty
line.`,
		Example:           "  grapnel config get acp.default_agent\n  grapnel config get autonomy --json",
		Args:              arguments("PATH"),
		ValidArgsFunction: completeSetting,
		RunE: i.action(func(_ *cobra.Command, args []string) error {
			p, err := settingPath(args[0])
			if err != nil {
				return err
			}
			c, err := i.load()
			if err != nil {
				return err
			}
			value, err := c.Get(p)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(i.env.Stdout, value)
			}
			_, err = fmt.Fprint(i.env.Stdout, config.Text(p, value))
			return err
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
