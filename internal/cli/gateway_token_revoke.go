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
		Args:              arguments("NAME"),
		ValidArgsFunction: i.completeTokens,
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

// completeTokens offers the names of the tokens there are.
func (i *invocation) completeTokens(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	g, err := i.gateway()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	tokens, err := g.Tokens(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []cobra.Completion
	for _, t := range tokens {
		found = append(found, cobra.CompletionWithDesc(t.Name, cell("of "+t.Owner)))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
