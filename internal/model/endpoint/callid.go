package endpoint

import (
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// CallIDs gives the tool calls of a conversation ids that every provider
// takes: unique, since some models use an id again, and made of letters,
// digits, "_" and "-". It is used once per request, in the order of the
// conversation.
type CallIDs struct {
	latest map[string]string // from an id in the conversation to the one sent
	used   map[string]int
}

// Call returns the id to send for a tool call.
func (c *CallIDs) Call(id string) string {
	if c.latest == nil {
		c.latest, c.used = make(map[string]string), make(map[string]int)
	}
	sent := strings.Map(allowedInID, id)
	if sent == "" {
		sent = "call"
	}
	n := c.used[sent]
	c.used[sent] = n + 1
	if n > 0 {
		sent += "-" + strconv.Itoa(n+1)
		c.used[sent]++
	}
	c.latest[id] = sent
	return sent
}

// Result returns the id to send for the result of the latest call with id.
func (c *CallIDs) Result(id string) string {
	if sent, ok := c.latest[id]; ok {
		return sent
	}
	return strings.Map(allowedInID, id)
}

func allowedInID(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		return r
	default:
		return '_'
	}
}

// ResultText is the text of a tool result for APIs that know text only and no
// mark for errors. It is never empty.
func ResultText(r *model.ToolResult) string {
	text := model.Message{Parts: r.Parts}.Text()
	switch {
	case r.IsError && text == "":
		return "Error: the tool failed."
	case r.IsError:
		return "Error: " + text
	case text == "":
		return "(no output)"
	default:
		return text
	}
}
