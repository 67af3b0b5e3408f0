package cli

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// jsonFlag adds --json to a command that prints data.
func jsonFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "json", false, "print JSON")
}

// printJSON writes value with sorted keys. What could act on a terminal is
// escaped, which JSON allows everywhere.
func printJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value, json.Deterministic(true), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(printable.JSON(text), '\n'))
	return err
}
