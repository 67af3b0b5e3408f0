package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/demo"
)

func (i *invocation) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch the whole path run, offline",
		Long: `Starts a real grapnel acp in a small repository made for it, with the built-in
offline model, and shows what an editor would: text, tools, a permission granted
and one refused, a cancelled turn, and the session loaded by a new process. It
needs no account and no network and leaves nothing behind.`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			if home, err := i.home(); err == nil { // the demo has its own; only the overrides matter
				if err := i.checkEnvironment(home); err != nil {
					return err
				}
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find the grapnel binary to start: %w", err)
			}
			return demo.Run(cmd.Context(), self, i.env.Stdout)
		}),
	}
}
