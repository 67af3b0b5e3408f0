package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

func (i *invocation) configSchemaCommand() *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Describe every setting",
		Long: `Describe every setting: its path, type or allowed values, default and meaning.
With --json it is a JSON Schema, which editors use to complete config.toml.`,
		Args: arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			switch {
			case asJSON:
				return printJSON(i.env.Stdout, config.JSONSchema())
			case asMarkdown:
				_, err := io.WriteString(i.env.Stdout, config.Markdown())
				return err
			}
			return printKeys(i.env.Stdout)
		}),
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the reference page")
	return cmd
}

func printKeys(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tTYPE\tDEFAULT\tMEANING")
	for _, k := range config.Keys() {
		kind := k.Type
		if len(k.Values) > 0 {
			kind = strings.Join(k.Values, "|")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", k.Path, printable.Short(kind, maxCell), printable.Short(k.Default, maxCell), k.Doc)
	}
	return table.Flush()
}

// maxCell keeps one long default from pushing the table off the screen.
const maxCell = 32
