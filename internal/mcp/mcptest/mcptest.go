//lint:file-ignore SA1019 the tool where asks for roots, as servers in use do

// Package mcptest is an MCP server for tests: a well-behaved one made with the
// official SDK, and ways to misbehave. A test binary becomes it by calling Main
// in its TestMain.
package mcptest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Env is set in the environment of a process that is to be a server; its value
// is the mode, "" being the well-behaved server.
const Env = "MCPTEST_MODE"

// Main runs a server on standard input and output, and exits, where Env is set.
func Main() {
	mode, ok := os.LookupEnv(Env)
	if !ok {
		return
	}
	if misbehave(mode) {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "mcptest is ready")
	if err := New().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}

// Instructions are those of the server New returns.
const Instructions = "Say echo before anything else."

// New returns the well-behaved server.
func New() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "mcptest", Version: "1"}, &mcp.ServerOptions{Instructions: Instructions})
	addTalk(s)
	addContent(s)
	addChange(s)
	return s
}

// HTTP returns the server as a handler of streamable HTTP.
func HTTP(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// SSE returns the server as a handler of the older transport.
func SSE(s *mcp.Server) http.Handler {
	return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)
}

// Text is the input of tools that take one text.
type Text struct {
	Text string `json:"text" jsonschema:"any text"`
}

func add[In any](s *mcp.Server, name, description string, f func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description}, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		res, err := f(ctx, r, in)
		return res, nil, err
	})
}

func say(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func addTalk(s *mcp.Server) {
	add(s, "echo", "Returns its text.", func(_ context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, error) {
		return say("echo: " + in.Text), nil
	})
	add(s, "env", "Returns a variable of the server's environment.", func(_ context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, error) {
		return say(os.Getenv(in.Text)), nil
	})
	add(s, "where", "Returns the server's directory and the roots of its client.", func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, error) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		roots, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		text := dir
		for _, root := range roots.Roots {
			text += " " + root.URI
		}
		return say(text), nil
	})
	add(s, "fail", "Always fails.", func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, error) {
		return nil, errors.New("it cannot be done")
	})
	add(s, "hang", "Never answers; writes the file named when it is cancelled.", func(ctx context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		if in.Text != "" {
			return nil, os.WriteFile(in.Text, []byte("cancelled"), 0o600)
		}
		return nil, ctx.Err()
	})
	add(s, "work", "Reports progress, some tenths of a second long.", work)
	add(s, "die", "Ends the server.", func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "mcptest: fatal: out of cheese")
		os.Exit(3)
		return nil, nil
	})
}

// Tenths is the input of the tool work.
type Tenths struct {
	Tenths int `json:"tenths"`
}

func work(ctx context.Context, r *mcp.CallToolRequest, in Tenths) (*mcp.CallToolResult, error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range in.Tenths {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: float64(in.Tenths), Message: "working",
		})
		if err != nil {
			return nil, err
		}
	}
	return say("done"), nil
}

// Size is the input of the tool big.
type Size struct {
	Bytes int `json:"bytes"`
}

// Pixel is a PNG of one pixel.
const Pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"

func addContent(s *mcp.Server) {
	add(s, "big", "Returns so many bytes of text.", func(_ context.Context, _ *mcp.CallToolRequest, in Size) (*mcp.CallToolResult, error) {
		return say(strings.Repeat("x", in.Bytes)), nil
	})
	add(s, "picture", "Returns an image.", func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte(Pixel), MIMEType: "image/png"}}}, nil
	})
	add(s, "files", "Returns resources: so many blobs of that size, a text and a link.", func(_ context.Context, _ *mcp.CallToolRequest, in Blobs) (*mcp.CallToolResult, error) {
		r := &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "memo://text", MIMEType: "text/plain", Text: "a memo"}},
			&mcp.ResourceLink{URI: "memo://link", Name: "link"},
		}}
		for i := range in.Count {
			blob := make([]byte, in.Bytes)
			copy(blob, fmt.Sprintf("%%PDF-%d", i))
			r.Content = append(r.Content, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: fmt.Sprintf("memo://blob/%d.pdf", i), MIMEType: "application/pdf", Blob: blob,
			}})
		}
		return r, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "sum", Description: "Adds numbers."}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		A int `json:"a"`
		B int `json:"b"`
	},
	) (*mcp.CallToolResult, struct {
		Sum int `json:"sum"`
	}, error,
	) {
		return nil, struct {
			Sum int `json:"sum"`
		}{in.A + in.B}, nil
	})
	s.AddResource(&mcp.Resource{URI: "memo://plan", Name: "plan", MIMEType: "text/plain"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "the plan"}}}, nil
	})
}

// Blobs is the input of the tool files.
type Blobs struct {
	Count int `json:"count"`
	Bytes int `json:"bytes"`
}

// addChange adds tools that change the list of tools.
func addChange(s *mcp.Server) {
	add(s, "grow", "Adds a tool of that name.", func(_ context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, error) {
		add(s, in.Text, "A tool that came later.", func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, error) {
			return say("late"), nil
		})
		return say("added"), nil
	})
	add(s, "shrink", "Removes the tool of that name.", func(_ context.Context, _ *mcp.CallToolRequest, in Text) (*mcp.CallToolResult, error) {
		s.RemoveTools(in.Text)
		return say("removed"), nil
	})
}
