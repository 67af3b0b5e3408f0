package mcp

import (
	"encoding/json" // what the SDK decodes structured content to
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/tool"
)

// maxText is how much text of one result a model gets, in bytes.
const maxText = 64 << 10

// result makes a server's result the tool's.
func result(r *sdk.CallToolResult) tool.Result {
	var text []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			text = append(text, c.Text)
		case *sdk.ImageContent:
			text = append(text, fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			text = append(text, fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			text = append(text, fmt.Sprintf("[Link: %s] %s", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource != nil {
				text = append(text, fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", c.Resource.URI, c.Resource.Text))
			}
		}
	}
	out := tool.Result{IsError: r.IsError}
	if r.StructuredContent != nil {
		if b, err := json.Marshal(r.StructuredContent); err == nil && len(b) <= maxText {
			out.RawOutput = b
			if len(text) == 0 {
				text = append(text, string(b))
			}
		}
	}
	out.Text = shorten(strings.Join(text, "\n\n"))
	return out
}

// shorten keeps both ends of a long text.
func shorten(text string) string {
	if len(text) <= maxText {
		return strings.ToValidUTF8(text, "\ufffd")
	}
	half := maxText / 2
	return strings.ToValidUTF8(text[:half], "") + fmt.Sprintf("\n\n[… %d bytes left out …]\n\n", len(text)-2*half) + strings.ToValidUTF8(text[len(text)-half:], "")
}
