package cli

import "github.com/spf13/cobra"

// helpCommand replaces cobra's, which takes an unknown command for success.
func (i *invocation) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		Args:  cobra.ArbitraryArgs,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				next := verb(about, name)
				if next == nil {
					return unknownCommand(about, name)
				}
				about = next
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		}),
	}
}

// verb returns the command called name below cmd, or nil.
func verb(cmd *cobra.Command, name string) *cobra.Command {
	for _, v := range cmd.Commands() {
		if v.Name() == name || v.HasAlias(name) {
			return v
		}
	}
	return nil
}
