package mcp

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
	"github.com/grapnel-ai/grapnel/internal/proc"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	goleak.VerifyTestMain(m)
}

// patience bounds every wait; a correct server is ready in milliseconds.
const patience = 30 * time.Second

// program is the test binary as a server of the mode.
func program(name, mode string) Server {
	return Server{Name: name, Transport: Stdio, Command: os.Args[0], Secrets: func(context.Context) (Secrets, error) {
		return Secrets{Env: map[string]string{
			mcptest.Env: mode, "TOKEN": "SEKRET-TOKEN",
			"GORACE": "atexit_sleep_ms=10", // a second per server otherwise
		}}, nil
	}}
}

// opened connects servers and waits until each has come to something.
func opened(t *testing.T, list ...Server) *Servers {
	t.Helper()
	s := Open(list, nil, Options{Version: "test", Dir: t.TempDir(), Environ: proc.Environ(os.Environ())})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if late := s.Wait(ctx); len(late) > 0 {
		t.Fatalf("%v did not come to anything", late)
	}
	return s
}

// lookup returns a tool by the name a model calls it by, or nil.
func lookup(s *Servers, name string) tool.Tool {
	list, _ := s.Tools()
	for _, tl := range list {
		if tl.Spec().Name == name {
			return tl
		}
	}
	return nil
}

// call runs a tool to its end.
func call(t *testing.T, s *Servers, name, input string) tool.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return callCtx(ctx, t, s, name, input)
}

func callCtx(ctx context.Context, t *testing.T, s *Servers, name, input string) tool.Result {
	t.Helper()
	tl := lookup(s, name)
	if tl == nil {
		t.Fatalf("there is no tool %s", name)
	}
	return use(ctx, t, tl, input)
}

// use runs a tool that was there a moment ago.
func use(ctx context.Context, t *testing.T, tl tool.Tool, input string) tool.Result {
	t.Helper()
	c, err := tl.Prepare(ctx, &tool.Env{}, jsontext.Value(input))
	if err != nil {
		t.Fatal(err)
	}
	return c.Run(ctx, tool.SinkFunc(func([]tool.Content) {}))
}

func TestResources(t *testing.T) {
	s := opened(t, program("test", ""), program("bare", "garbage"))
	if r := call(t, s, "test__read_resource", `{}`); r.Text != "memo://plan  plan" {
		t.Errorf("the list is %+v", r)
	}
	if r := call(t, s, "test__read_resource", `{"uri":"memo://plan"}`); !strings.Contains(r.Text, "the plan") {
		t.Errorf("the plan is %+v", r)
	}
	if r := call(t, s, "test__read_resource", `{"uri":"memo://none"}`); !r.IsError || !strings.Contains(r.Text, "MCP server test refused read_resource") {
		t.Errorf("nothing is %+v", r)
	}
	if r := call(t, s, "test__read_resource", `{"uri":7}`); !r.IsError {
		t.Errorf("a number is %+v", r)
	}
	if lookup(s, "bare__read_resource") != nil {
		t.Error("a server without resources has a tool for them")
	}
}

// TestWhere: a process starts in the session's directory, and hears of the
// session's directories and of those its command line names.
func TestWhere(t *testing.T) {
	dir, own := newStore(t).Cwd, newStore(t).Cwd
	p := program("test", "")
	p.Args = []string{own}
	s := Open([]Server{p}, nil, Options{Dir: dir, Roots: []string{dir}})
	defer func() { _ = s.Close(context.Background()) }()
	s.Wait(t.Context())
	want := dir + " file://" + dir + " file://" + own
	if r := call(t, s, "test__where", `{}`); !sameWords(r.Text, want) {
		t.Errorf("it says %q, not %q", r.Text, want)
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func TestProgram(t *testing.T) {
	s := opened(t, program("test", ""))
	if r := call(t, s, "test__echo", `{"text":"hi"}`); r.IsError || r.Text != "echo: hi" {
		t.Errorf("echo returned %+v", r)
	}
	if r := call(t, s, "test__env", `{"text":"TOKEN"}`); r.Text != "SEKRET-TOKEN" {
		t.Errorf("env returned %+v", r)
	}
	if r := call(t, s, "test__fail", `{}`); !r.IsError || !strings.Contains(r.Text, "it cannot be done") {
		t.Errorf("fail returned %+v", r)
	}
	if r := call(t, s, "test__sum", `{"a":1,"b":2}`); string(r.RawOutput) != `{"sum":3}` {
		t.Errorf("sum returned %+v", r)
	}
	if n := s.Notices(); len(n) > 0 {
		t.Errorf("notices %+v", n)
	}
}
