package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

func (i *invocation) gatewayStatusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the gateway runs, and what it does",
		Long: `Say whether a gateway runs on this configuration directory, where it listens and what
it does. It fails when none runs.`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			g, err := i.gateway()
			if err != nil {
				return err
			}
			s, err := g.Status(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(i.env.Stdout, s)
			}
			state := "running"
			if s.Draining {
				state = "draining"
			}
			fmt.Fprintf(i.env.Stdout, "%s for %s (process %d, version %s)\nurl          %s\nacp          %s\nconnections  %d\nsessions     %d active, %d with a turn running\n",
				state, time.Duration(s.Uptime)*time.Second, s.PID, s.Version, s.URL, s.ACP, s.Connections, s.Active, s.Running)
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
