package cli

import (
	"io"

	"github.com/spf13/cobra"
)

// helpCommand replaces cobra's, which takes an unknown command for success.
func (i *invocation) helpCommand() *cobra.Command {
	var asMarkdown bool
	cmd := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		Args:  cobra.ArbitraryArgs,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			if asMarkdown {
				_, err := io.WriteString(i.env.Stdout, referencePage(cmd.Root()))
				return err
			}
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
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the reference page of all commands")
	return cmd
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
