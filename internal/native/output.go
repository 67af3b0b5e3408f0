package native

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// shortLines and shortBytes bound the text of a tool that is shown in short.
	shortLines = 10
	shortBytes = 1 << 10
	// shortRaw is the largest raw output, in bytes, that goes with it.
	shortRaw = 512
)

// failureOutput is how much is shown of a call that failed: never nothing.
func failureOutput(output string) string {
	if output == outputOff {
		return outputShort
	}
	return output
}

// shown is what clients see of a tool's content. Files that were changed, pictures,
// documents and terminals are no output that could be too long, and stay.
func shown(list []tool.Content, output string) []tool.Content {
	if output != outputShort && output != outputOff {
		return list
	}
	var out []tool.Content
	for _, c := range list {
		switch {
		case !isPlain(&c):
			out = append(out, c)
		case output == outputShort:
			c.Text = short(c.Text)
			out = append(out, c)
		}
	}
	return out
}

func isPlain(c *tool.Content) bool {
	return c.Diff == nil && c.TerminalID == "" && c.Image == nil && c.Audio == nil && c.Resource == nil && c.Link == nil
}

// short is the beginning of a text, and how much more there is.
func short(text string) string {
	lines := strings.SplitAfterN(text, "\n", shortLines+1)
	if len(lines) <= shortLines && len(text) <= shortBytes {
		return text
	}
	head := printable.Head(strings.Join(lines[:min(len(lines), shortLines)], ""), shortBytes)
	return fmt.Sprintf("%s\n[%d bytes more]", strings.TrimRight(head, "\n"), len(text)-len(head))
}

// shownRaw is what clients see of a tool's raw output.
func shownRaw(raw jsontext.Value, output string) jsontext.Value {
	if output == outputOff || output == outputShort && len(raw) > shortRaw {
		return nil
	}
	return raw
}
