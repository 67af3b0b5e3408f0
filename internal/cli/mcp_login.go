package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
)

func (i *invocation) mcpLoginCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to an MCP server by the browser",
		Long: `Log in (OAuth) to a configured MCP server that is reached by http. The address to
open in a browser is printed; the browser comes back to a port of this machine, so
it has to run here. The tokens are kept encrypted in keys/ of the configuration
directory, used by sessions from then on, and renewed as they run out.`,
		Example:           "  grapnel mcp login tracker",
		Args:              arguments("NAME"),
		ValidArgsFunction: i.completeServers,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			err = app.MCPLogin(cmd.Context(), c, args[0], func(address string) {
				fmt.Fprintf(i.env.Stderr, "Open this address in a browser of this machine and log in:\n\n  %s\n\n", address)
			})
			if err == nil {
				_, err = fmt.Fprintf(i.env.Stderr, "Logged in to %s.\n", args[0])
			}
			return err
		}),
	}
}

func (i *invocation) mcpLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the login to an MCP server",
		Long: `Forget the tokens of an earlier grapnel mcp login. The server is not told: where
it lists what has access, remove Grapnel there too.`,
		Args:              arguments("NAME"),
		ValidArgsFunction: i.completeServers,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			was, err := app.MCPLogout(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if !was {
				return fmt.Errorf("there is no login to %s", args[0])
			}
			_, err = fmt.Fprintf(i.env.Stderr, "Forgot the login to %s.\n", args[0])
			return err
		}),
	}
}
