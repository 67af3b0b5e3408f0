package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// readResource is the tool that stands for a server's resources, unless the
	// server has one of that name.
	readResource = "read_resource"
	// maxResources is how many resources are listed.
	maxResources = 200
)

// resourceSchema is the input of that tool.
const resourceSchema = `{"type":"object","properties":{"uri":{"type":"string","description":"What to read; without it, the resources there are are listed"}}}`

// resourceTool is the tool that lists and reads a server's resources.
func (s *server) resourceTool() *remoteTool {
	return &remoteTool{
		server: s, own: readResource, definition: readResource, resources: true,
		spec: tool.Spec{
			Name:        toolName(s.prefix, readResource),
			Description: fmt.Sprintf("Lists the resources of the MCP server %s, or reads one by its URI.", label(s.conf.Name)),
			Schema:      jsontext.Value(resourceSchema), Kind: tool.KindOther, Acts: true,
		},
	}
}

// hasResources reports whether the server offers any.
func (c *connection) hasResources() bool {
	r := c.session.InitializeResult()
	return r != nil && r.Capabilities != nil && r.Capabilities.Resources != nil
}

// resource reads the resource of a call's input, or lists what there is.
func (c *connection) resource(ctx context.Context, input []byte) (*sdk.CallToolResult, error) {
	var in struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "uri has to be a string"}}}, nil
	}
	ctx, end := c.bounded(ctx)
	defer end()
	if in.URI == "" {
		return c.resources(ctx)
	}
	r, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: in.URI})
	if err != nil {
		return nil, c.late(ctx, err)
	}
	out := &sdk.CallToolResult{}
	for _, content := range r.Contents {
		out.Content = append(out.Content, &sdk.EmbeddedResource{Resource: content})
	}
	return out, nil
}

// resources lists the server's resources and templates of them.
func (c *connection) resources(ctx context.Context) (*sdk.CallToolResult, error) {
	var lines []string
	add := func(uri, name, description string) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s  %s  %s", label(uri), label(name), label(description))))
	}
	for r, err := range c.session.Resources(ctx, nil) {
		if err != nil {
			return nil, c.late(ctx, err)
		}
		if add(r.URI, r.Name, r.Description); len(lines) == maxResources {
			break
		}
	}
	for t, err := range c.session.ResourceTemplates(ctx, nil) {
		if err != nil || len(lines) >= maxResources {
			break // many servers have none
		}
		add(t.URITemplate, t.Name, t.Description)
	}
	text := strings.Join(lines, "\n")
	if text == "" {
		text = "There are no resources."
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}
