package cli

import "github.com/spf13/cobra"

func (i *invocation) gatewayCommand() *cobra.Command {
	run := i.gatewayRunCommand()
	cmd := i.group(&cobra.Command{
		Use:   "gateway [run]",
		Short: "Serve sessions over the network, and say who may come in",
		Long: `Serve sessions over the network, and say who may come in. Without a command it is
grapnel gateway run.`,
		Example: run.Example,
	},
		i.gatewayPairCommand(),
		run,
		i.gatewayStatusCommand(),
		i.gatewayTokenCommand(),
	)
	none := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return none(cmd, args)
		}
		return run.RunE(cmd, args)
	}
	cmd.Flags().AddFlagSet(run.Flags())
	return cmd
}
