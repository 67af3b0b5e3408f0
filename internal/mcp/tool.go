package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json" // what the SDK marshals arguments with
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/tool"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

const (
	// maxDescription is how much of a tool's description a model gets, in bytes.
	maxDescription = 4 << 10
	// maxTitle is how much of a call's arguments its title shows, in bytes.
	maxTitle = 160
)

// remoteTool is one tool of a server, as it was when the list was read.
type remoteTool struct {
	server     *server
	own        string // its name at the server
	spec       tool.Spec
	definition string // tells one definition of the tool from another
	destroys   bool   // by its own word
	resources  bool   // it is ours and reads the server's resources
}

// offers are what becomes of a server's list of tools.
type offers struct {
	server *server
	tools  []*remoteTool
	left   []string // names of some that cannot be offered, quoted
	taken  map[string]bool
}

func (s *server) offers() *offers { return &offers{server: s, taken: make(map[string]bool)} }

// add makes tools of a page of the list.
func (o *offers) add(page []*sdk.Tool) {
	for _, f := range page {
		name := toolName(o.server.prefix, f.Name)
		schema, ok := safeSchema(f.InputSchema)
		if !ok || f.Name == "" || o.taken[name] {
			if len(o.left) < 10 {
				o.left = append(o.left, fmt.Sprintf("%.60q", f.Name))
			}
			continue
		}
		o.taken[name] = true
		o.tools = append(o.tools, o.server.remoteTool(f, name, schema))
	}
}

func (s *server) remoteTool(f *sdk.Tool, name string, schema jsontext.Value) *remoteTool {
	t := &remoteTool{server: s, own: f.Name, spec: tool.Spec{
		Name: name, Description: describe(f, s.conf.Name), Schema: schema, Kind: tool.KindOther, Acts: true,
	}}
	if a := f.Annotations; a != nil && a.DestructiveHint != nil {
		t.destroys = *a.DestructiveHint && !a.ReadOnlyHint
	}
	t.definition = markOf(f.Name, t.spec.Description, string(schema), fmt.Sprint(t.destroys))
	return t
}

func describe(f *sdk.Tool, server string) string {
	text := f.Description
	if text == "" {
		text = f.Title
	}
	if text == "" {
		text = f.Name + " of MCP server " + server
	}
	return strings.Clone(printable.Clip(text, maxDescription)) // the rest may be megabytes
}

// Spec implements tool.Tool.
func (t *remoteTool) Spec() tool.Spec { return t.spec }

// size is what the tool takes of a request, in bytes.
func (t *remoteTool) size() int {
	return len(t.spec.Name) + len(t.spec.Description) + len(t.spec.Schema)
}

// Prepare implements tool.Tool. What the server says of a tool only ever makes
// policy stricter.
func (t *remoteTool) Prepare(_ context.Context, env *tool.Env, input jsontext.Value) (*tool.Call, error) {
	arguments := input.Clone()
	if len(arguments) == 0 {
		arguments = jsontext.Value("{}")
	}
	if err := arguments.Compact(); err != nil || arguments.Kind() != '{' {
		return nil, fmt.Errorf("the input of %s is not a JSON object: send the call again", t.spec.Name)
	}
	c := &tool.Call{
		Title: t.title(arguments), Kind: tool.KindOther,
		Subject: policy.Subject{Tool: t.spec.Name, Server: t.server.conf.Name, Source: t.server.conf.mark() + " " + t.definition, Kind: tool.KindOther, Acts: true, Cwd: env.Cwd},
		Run:     func(ctx context.Context, out tool.Sink) tool.Result { return t.run(ctx, env, arguments, out) },
	}
	if t.destroys {
		c.Subject.Kind = "delete"
	}
	return c, nil
}

// title says which server does what with which arguments.
func (t *remoteTool) title(arguments jsontext.Value) string {
	text := printable.Line(t.server.conf.Name + ": " + t.own)
	if string(arguments) == "{}" {
		return text
	}
	return text + " " + printable.Clip(printable.Line(string(arguments)), maxTitle)
}

func (t *remoteTool) run(ctx context.Context, env *tool.Env, arguments jsontext.Value, out tool.Sink) tool.Result {
	c, err := t.server.current(t)
	if err != nil {
		return failure(err)
	}
	r, err := t.ask(ctx, c, arguments, out)
	if err != nil {
		return failure(t.failed(ctx, c, err))
	}
	return take(r, upload.Store{Roots: env.Roots, Cwd: env.Cwd})
}

// ask puts the call to the server.
func (t *remoteTool) ask(ctx context.Context, c *connection, arguments jsontext.Value, out tool.Sink) (*sdk.CallToolResult, error) {
	if t.resources {
		return c.resource(ctx, arguments)
	}
	show, stop := showing(out)
	defer stop()
	return c.call(ctx, t.own, arguments, show)
}

// failed says what became of a call that has no result.
func (t *remoteTool) failed(ctx context.Context, c *connection, err error) error {
	if ctx.Err() != nil {
		return errors.New("cancelled: the server was told to stop")
	}
	if answer := (*jsonrpc.Error)(nil); errors.As(err, &answer) {
		return fmt.Errorf("MCP server %s refused %s: %s", t.server.conf.Name, t.own, printable.Clip(answer.Message, maxSaid))
	}
	if late := (*timeoutError)(nil); errors.As(err, &late) {
		return fmt.Errorf("MCP server %s: %s: %w", t.server.conf.Name, t.own, late)
	}
	if malformed(err) {
		return fmt.Errorf("MCP server %s sent a result of %s that is not as the protocol has it", t.server.conf.Name, t.own)
	}
	return fmt.Errorf("MCP server %s was lost during %s: %w", t.server.conf.Name, t.own, c.explain(err))
}

// malformed reports a result that could not be decoded; the connection lives on.
func malformed(err error) bool {
	return errors.As(err, new(*json.UnmarshalTypeError)) || errors.As(err, new(base64.CorruptInputError))
}

func failure(err error) tool.Result { return tool.Result{Text: err.Error(), IsError: true} }

func rawArguments(input []byte) json.RawMessage { return json.RawMessage(input) }
