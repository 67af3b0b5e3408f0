package cli

import "github.com/spf13/cobra"

func (i *invocation) gatewayCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "gateway",
		Short: "Serve sessions over the network, and say who may come in",
	},
		i.gatewayPairCommand(),
		i.gatewayTokenCommand(),
	)
}
