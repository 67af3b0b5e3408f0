package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// secretRow is one setting as secret list --json prints it.
type secretRow struct {
	Path      string `json:"path"`
	Scheme    string `json:"scheme"`
	Reference string `json:"reference"` // redacted where it is or holds the secret
	Resolves  bool   `json:"resolves"`
	Problem   string `json:"problem,omitzero"`
}

func (i *invocation) secretListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List where credentials are, and whether they can be read",
		Long: `List every secret setting in force, from config.toml and the environment: where its
value comes from (literal, env, file, cmd, age) and whether it can be read now. To
find that out, commands of cmd: references are run. No value is shown.`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			c, err := i.load()
			if err != nil {
				return err
			}
			rows := i.secretRows(cmd.Context(), c)
			if asJSON {
				return printJSON(i.env.Stdout, rows)
			}
			if len(rows) == 0 {
				_, err := fmt.Fprintln(i.env.Stderr, "grapnel: no secrets are set")
				return err
			}
			return printSecrets(i.env.Stdout, rows)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) secretRows(ctx context.Context, c *config.Config) []secretRow {
	src := c.Home().Secrets(i.getenv, nil)
	rows := []secretRow{}
	for _, s := range c.Secrets() {
		row := secretRow{Path: s.Path.String(), Scheme: string(s.Ref.Scheme()), Reference: s.Ref.String(), Resolves: true}
		if _, err := s.Ref.Resolve(ctx, src); err != nil {
			row.Resolves, row.Problem = false, err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

func printSecrets(w io.Writer, rows []secretRow) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PATH\tKIND\tSTATE")
	for _, r := range rows {
		state := "ok"
		if !r.Resolves {
			state = printable.Line(r.Problem)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", printable.Line(r.Path), r.Scheme, state)
	}
	return table.Flush()
}
