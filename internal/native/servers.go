package native

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// serverNames names the client's MCP servers.
func serverNames(servers []jsontext.Value) []string {
	var names []string
	for _, v := range servers {
		var s struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(v, &s) != nil || s.Name == "" {
			s.Name = "(unnamed)"
		}
		names = append(names, s.Name)
	}
	return names
}

// reportServers tells the people, once, of MCP servers they passed whose tools
// this agent does not have.
func (t *turn) reportServers(ctx context.Context) error {
	if len(t.unserved) == 0 {
		return nil
	}
	text := fmt.Sprintf("This agent does not connect to MCP servers, so the tools of %s are not available.", strings.Join(t.unserved, ", "))
	t.unserved = nil
	return t.sink.Emit(ctx, notice(t.id, "warning", "MCP servers not connected", text))
}
