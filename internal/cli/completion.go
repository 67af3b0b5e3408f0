package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// shells are those completion can be generated for.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

func (i *invocation) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the completion script of a shell",
		Long: `Print the script that completes grapnel's commands and flags in a shell: bash,
zsh, fish or powershell.`,
		Example: `  source <(grapnel completion bash)
  grapnel completion zsh > "${fpath[1]}/_grapnel"
  grapnel completion fish > ~/.config/fish/completions/grapnel.fish
  grapnel completion powershell | Out-String | Invoke-Expression`,
		Args:      arguments("SHELL"),
		ValidArgs: shells(),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), i.env.Stdout
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usagef("unknown shell %q; choose one of %s", args[0], strings.Join(shells(), ", "))
		}),
	}
}
