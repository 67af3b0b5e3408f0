package cli

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

func (i *invocation) mcpCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "mcp",
		Short: "List, try and log in to the configured MCP servers",
		Long: `List, try and log in to the MCP servers of the configuration, whose tools agents get. What
editors pass along with a session is not among them.`,
	},
		i.mcpListCommand(),
		i.mcpLoginCommand(),
		i.mcpLogoutCommand(),
		i.mcpTestCommand(),
	)
}

// mcpRow is a server as mcp list --json prints it.
type mcpRow struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport"`
	Place     string   `json:"place"`
	Agents    []string `json:"agents"`
}

func (i *invocation) mcpListCommand() *cobra.Command {
	var alias string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the configured MCP servers",
		Long: `List the MCP servers of the configuration: name, transport, the program or host,
and the agents that have its tools. Nothing is started; grapnel mcp test does that.`,
		Example: "  grapnel mcp list --agent main",
		Args:    arguments(),
		RunE: i.action(func(_ *cobra.Command, _ []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			list, err := app.MCPServers(c, alias)
			if err != nil {
				return err
			}
			return i.printServers(list, asJSON)
		}),
	}
	cmd.Flags().StringVar(&alias, "agent", "", "only servers of this agent `alias`")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) printServers(list []app.MCPServer, asJSON bool) error {
	if asJSON {
		rows := make([]mcpRow, 0, len(list))
		for _, s := range list {
			rows = append(rows, mcpRow{s.Name, s.Transport, s.Place, append([]string{}, s.Agents...)})
		}
		return printJSON(i.env.Stdout, rows)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(i.env.Stderr, "grapnel: no MCP servers are configured")
		return err
	}
	table := tabwriter.NewWriter(i.env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tTRANSPORT\tPLACE\tAGENTS")
	for _, s := range list {
		agents := strings.Join(s.Agents, ", ")
		if agents == "" {
			agents = "none"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable.Line(s.Name), s.Transport, printable.Line(s.Place), agents)
	}
	return table.Flush()
}

// completeServers offers the names of the configured servers.
func (i *invocation) completeServers(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	c, err := i.load()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := app.MCPServers(c, "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []cobra.Completion
	for _, s := range list {
		found = append(found, cobra.CompletionWithDesc(s.Name, s.Place))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// workingDirectory is where the command was called.
func workingDirectory() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working directory is not known: %w", err)
	}
	return dir, nil
}
