package bench

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// echo is the input of the call that is measured.
const echo = `{"text":"hello"}`

// BenchmarkMCPCall is a tool call of an MCP server on pipes, as a session makes
// it, against the same call by a bare client of the SDK.
func BenchmarkMCPCall(b *testing.B) {
	ours, base := sessionCall(b), bareCall(b)
	for range 100 { // pages are warm
		ours()
		base()
	}
	var took, floor sample
	for b.Loop() {
		took.add(ours)
		untimed(b, func() { floor.add(base) })
	}
	b.ReportMetric(ms(took.p50()), "ms-p50")
	b.ReportMetric(ms(floor.p50()), "base-ms-p50")
	b.ReportMetric(ms(took.p50()-floor.p50()), "ms-over")
}

// sessionCall returns a call by the tool of a session's server.
func sessionCall(b *testing.B) func() {
	s := mcp.Open([]mcp.Server{{
		Name: "test", Transport: mcp.Stdio, Command: os.Args[0],
		Secrets: func(context.Context) (mcp.Secrets, error) {
			return mcp.Secrets{Env: map[string]string{mcptest.Env: ""}}, nil
		},
	}}, nil, mcp.Options{Dir: b.TempDir()})
	b.Cleanup(func() { _ = s.Close(context.Background()) })
	s.Wait(b.Context())
	list, _ := s.Tools()
	echoes, err := tool.NewSet(list...).Lookup("test__echo")
	if err != nil {
		b.Fatal(err, s.Notices())
	}
	return func() {
		c, err := echoes.Prepare(b.Context(), &tool.Env{}, jsontext.Value(echo))
		if err != nil {
			b.Fatal(err)
		}
		if r := c.Run(b.Context(), tool.SinkFunc(func([]tool.Content) {})); r.IsError || r.Text != "echo: hello" {
			b.Fatalf("%+v", r)
		}
	}
}

// bareCall returns a call by the SDK alone.
func bareCall(b *testing.B) func() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), mcptest.Env+"=")
	client := sdk.NewClient(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	c, err := client.Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	return func() {
		r, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: json.RawMessage(echo)})
		if err != nil || r.IsError {
			b.Fatal(err, r)
		}
	}
}
