package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/mcp"
)

// tried is what mcp test --json prints.
type tried struct {
	OK           bool        `json:"ok"`
	Error        string      `json:"error,omitzero"`
	Server       string      `json:"server,omitzero"`
	Version      string      `json:"version,omitzero"`
	Protocol     string      `json:"protocol,omitzero"`
	Instructions bool        `json:"instructions,omitzero"`
	ConnectMs    float64     `json:"connectMs,omitzero"`
	ListMs       float64     `json:"listMs,omitzero"`
	Tools        []triedTool `json:"tools"`
	Left         []string    `json:"leftOut,omitzero"`
}

type triedTool struct {
	Name        string `json:"name"` // what the model calls it by
	Own         string `json:"own"`  // its name at the server
	Description string `json:"description"`
	Destructive bool   `json:"destructive,omitzero"`
}

func (i *invocation) mcpTestCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Connect an MCP server and list its tools",
		Long: `Connect a configured MCP server from the working directory, list its tools as the
model gets them, and end it again. No tool is called. The server runs outside the
sandbox. When it cannot be connected, the last words of its program are shown.

Exit codes: 0 it works, 1 it does not, 2 wrong usage.`,
		Example:           "  grapnel mcp test files",
		Args:              arguments("NAME"),
		ValidArgsFunction: i.completeServers,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			home, err := i.home()
			if err != nil {
				return err
			}
			dir, err := workingDirectory()
			if err != nil {
				return err
			}
			r, err := app.ProbeMCP(cmd.Context(), app.Examination{Home: home, Environ: i.env.Environ, Version: i.version().Version}, dir, args[0])
			if asJSON {
				return i.printTried(r, err)
			}
			if err != nil {
				return err
			}
			return i.printReport(args[0], r)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) printTried(r mcp.Report, failure error) error {
	t := tried{
		OK: failure == nil, Server: r.Name, Version: r.Version, Protocol: r.Protocol, Instructions: r.Instructions,
		ConnectMs: milliseconds(r.Connected), ListMs: milliseconds(r.Listed), Tools: []triedTool{}, Left: r.Left,
	}
	for _, o := range r.Tools {
		t.Tools = append(t.Tools, triedTool{o.As, o.Name, o.Description, o.Destructive})
	}
	if failure != nil {
		t.Error = failure.Error()
	}
	if err := printJSON(i.env.Stdout, t); err != nil || failure == nil {
		return err
	}
	return &codeError{code: ExitFailed}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (i *invocation) printReport(name string, r mcp.Report) error {
	fmt.Fprintf(i.env.Stdout, "%s is %s %s, protocol %s\nready in %.0f ms, %d tools listed in %.0f ms\n",
		name, r.Name, r.Version, r.Protocol, milliseconds(r.Connected), len(r.Tools), milliseconds(r.Listed))
	table := tabwriter.NewWriter(i.env.Stdout, 0, 0, 2, ' ', 0)
	for _, t := range r.Tools {
		fmt.Fprintf(table, "  %s\t%s\n", t.As, cell(t.Description))
	}
	for _, left := range r.Left {
		fmt.Fprintf(table, "  %s\tleft out: no model can be given it\n", left)
	}
	return table.Flush()
}
