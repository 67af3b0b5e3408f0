package cli

import "github.com/spf13/cobra"

func (i *invocation) gatewayTokenCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke the tokens that clients come in with",
		Long: `Create, list and revoke the tokens that clients come in to the gateway with. The
gateway has to run: it is asked over its own socket, which only you can reach.`,
	},
		i.gatewayTokenCreateCommand(),
		i.gatewayTokenListCommand(),
		i.gatewayTokenRevokeCommand(),
	)
}
