package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

func (i *invocation) gatewayTokenListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without the tokens themselves",
		Args:  arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			g, err := i.gateway()
			if err != nil {
				return err
			}
			tokens, err := g.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(i.env.Stdout, append([]door.Token{}, tokens...))
			}
			if len(tokens) == 0 {
				_, err := fmt.Fprintln(i.env.Stderr, "grapnel: there are no tokens; grapnel gateway pair or grapnel gateway token create makes one")
				return err
			}
			return printTokens(i.env.Stdout, tokens, time.Now())
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printTokens(w io.Writer, tokens []door.Token, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tOWNER\tROLE\tAGENTS\tCREATED\tEXPIRES\tLAST USED")
	for _, t := range tokens {
		scope, expires, used := "all", "never", "never"
		if len(t.Scope) > 0 {
			scope = strings.Join(t.Scope, ",")
		}
		if !t.Expires.IsZero() {
			expires = t.Expires.Local().Format("2006-01-02 15:04")
			if !now.Before(t.Expires) {
				expires = "expired"
			}
		}
		if !t.Used.IsZero() {
			used = t.Used.Format(time.DateOnly)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable.Line(t.Name), printable.Line(t.Owner), t.Role,
			printable.Line(scope), t.Created.Local().Format(time.DateOnly), expires, used)
	}
	return table.Flush()
}
