package serve

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// servers are the MCP servers that the client brings and that may be used. Each
// that may not costs a report, never the session.
func (c *conn) servers(p *params) ([]raw, error) {
	list, err := p.servers()
	if err != nil {
		return nil, err
	}
	p.reports = nil
	var kept []raw
	for _, server := range list {
		why := c.unwanted(server)
		if why == "" {
			kept = append(kept, server)
			continue
		}
		p.reports = append(p.reports, serverReport(server, why))
	}
	if kept == nil && list != nil {
		kept = []raw{} // they are none, rather than not given
	}
	return kept, nil
}

// unwanted says why a server is left out, "" when it is not. One that is a
// process would run here: a client that is not on this machine, and so need not
// be a user of it, starts none unless the configuration lets it.
func (c *conn) unwanted(server raw) string {
	switch {
	case c.capabilities().handsOnly:
		return "all tools of this session work on the client's side; a server here is not among them"
	case !isStdio(server), c.opts.Local:
		return ""
	case c.server.opts.RemoteStdio != nil && c.server.opts.RemoteStdio():
		return ""
	}
	return "it would run on the gateway, which does not start commands for remote clients; configure it there ([mcp.servers] in its config.toml), or set client_mcp_stdio in [gateway]"
}

// isStdio reports a server that is a process (ACP McpServerStdio). It has no type
// in version 1.
func isStdio(server raw) bool {
	var s struct {
		Type    string `json:"type"`
		Command raw    `json:"command"`
	}
	if json.Unmarshal(server, &s) != nil {
		return true // whoever reads it in another way may find a command
	}
	return s.Type == "" || s.Type == "stdio" || s.Command != nil
}

// serverReport is the update of a notice about a server that is left out.
func serverReport(server raw, why string) raw {
	var s struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(server, &s) // without a name it is still left out
	type notice struct {
		Kind        session.Kind `json:"sessionUpdate"`
		Severity    string       `json:"severity"`
		Title       string       `json:"title"`
		Description string       `json:"description"`
	}
	title := fmt.Sprintf("MCP server %s is not used", printable.Short(printable.Line(firstNonEmpty(s.Name, "without a name")), 80))
	body, err := json.Marshal(notice{session.KindNotice, "warning", title, why})
	if err != nil {
		return nil // plain strings always encode
	}
	return body
}
