package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
)

func (i *invocation) secretRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rm PATH",
		Short: "Remove a credential",
		Long: `Remove a secret setting from config.toml, whatever kind of reference it is. What a
reference points at (a file, a variable, a password manager) stays.`,
		Example:           "  grapnel secret rm providers.claude.api_key",
		Args:              arguments("PATH"),
		ValidArgsFunction: completeSecret,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			p, err := secretPath(args[0])
			if err != nil {
				return err
			}
			home, err := i.home()
			if err != nil {
				return err
			}
			removed, err := config.Unset(home, p)
			if err != nil {
				return err
			}
			if !removed {
				return fmt.Errorf("%s is not set in %s; grapnel secret list shows what is", p, home.File())
			}
			fmt.Fprintf(i.env.Stderr, "Removed %s.\n", p)
			c, err := i.load()
			if err != nil {
				return err
			}
			return i.recorded(cmd.Context(), c, audit.SecretRemoved, p.String())
		}),
	}
}
