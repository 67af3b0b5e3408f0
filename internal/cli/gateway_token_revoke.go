package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (i *invocation) gatewayTokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take a token back and end its connections",
		Long: `Take a token back. It lets nobody in any more, and connections it was used for end at
once. The sessions of its owner stay; turns that run go on.`,
		Args: arguments("NAME"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			g, err := i.gateway()
			if err != nil {
				return err
			}
			if err := g.RevokeToken(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(i.env.Stderr, "Revoked %s.\n", args[0])
			return err
		}),
	}
}
