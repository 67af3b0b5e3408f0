package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/tool"
)

// TestMisbehaving: whatever a server does, its calls end in a result that says
// what is wrong, and the rest goes on.
func TestMisbehaving(t *testing.T) {
	for mode, want := range map[string]string{
		"garbage":   "ran ok",
		"stderr":    "ran ok",
		"notify":    "ran ok",
		"wrong-id":  "right",
		"huge":      "more than 16 MiB; ask it for less",
		"endless":   "was lost during ok",
		"malformed": "MCP server bad",
		"mistyped":  "that is not as the protocol has it",
		"no-base64": "that is not as the protocol has it",
		"restless":  "it exited with code 9",
		"ask":       "asked 64 things without waiting",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := opened(t, program("bad", mode), program("good", ""))
			if mode == "endless" {
				endless(t, s)
				return
			}
			if r := call(t, s, "bad__ok", `{}`); !strings.Contains(r.Text, want) {
				t.Errorf("the call returned %+v, without %q", r, want)
			}
			if r := call(t, s, "good__echo", `{"text":"hi"}`); r.Text != "echo: hi" {
				t.Errorf("the other server returned %+v", r)
			}
		})
	}
}

// endless: a line without end costs no memory, and cancelling works.
func endless(t *testing.T, s *Servers) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r := callCtx(ctx, t, s, "bad__ok", `{}`)
	if !r.IsError || !strings.Contains(r.Text, "cancelled") {
		t.Errorf("cancelled: %+v", r)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapInuse > 256<<20 {
		t.Errorf("%d MiB in use", m.HeapInuse>>20)
	}
}

// TestNeverReady: servers that never get ready are given up with a reason.
func TestNeverReady(t *testing.T) {
	s := opened(t, program("broken", "exit"), Server{Name: "missing", Transport: Stdio, Command: "no-such-program-here"})
	said := ""
	for _, n := range s.Notices() {
		said += n.Text + "\n"
	}
	for _, want := range []string{
		"The tools of broken are not available: it exited with code 7; its last words: mcptest: cannot find its token [redacted]",
		"The tools of missing are not available: cannot start no-such-program-here: there is no program no-such-program-here; install it",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if list, _ := s.Tools(); len(list) > 0 {
		t.Errorf("%d tools", len(list))
	}
}

// TestFickle: a server that says without end that its tools changed is asked now
// and then, and people are told once.
func TestFickle(t *testing.T) {
	began := time.Now()
	s := opened(t, program("fickle", "fickle"))
	const lists = listBurst + 3
	for deadline := began.Add(patience); lookup(s, fmt.Sprintf("fickle__list%d", lists)) == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the list is not asked for any more")
		}
	}
	if took := time.Since(began); took < 2*time.Second/listRate {
		t.Errorf("it was asked %d times within %s", lists, took)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, `fickle offers tools that no model can be given: ""`) {
		t.Errorf("notices %+v", n)
	}
}

// TestNoticesOfOneKind: nobody looks for a long time, and the last word counts.
func TestNoticesOfOneKind(t *testing.T) {
	s := opened(t)
	for i := range 3 {
		s.tell(Notice{Server: "a", Title: "lost", Text: fmt.Sprint(i)})
		s.tell(Notice{Server: "b", Title: "lost", Text: fmt.Sprint(i)})
		s.tell(Notice{Server: "a", Title: "back", Text: fmt.Sprint(i)})
	}
	want := []Notice{{Server: "a", Title: "lost", Text: "2"}, {Server: "b", Title: "lost", Text: "2"}, {Server: "a", Title: "back", Text: "2"}}
	if diff := cmp.Diff(want, s.Notices()); diff != "" {
		t.Error(diff)
	}
}

// TestLongPages: of a list as long as a server likes only what is used is kept.
func TestLongPages(t *testing.T) {
	most := heapWatch()
	s := opened(t, program("pages", "pages"))
	list, _ := s.Tools()
	if used := most(); len(list) != maxPages || used > 64<<20 {
		t.Errorf("%d tools, %d MiB in use", len(list), used>>20)
	}
}

// heapWatch returns a function that says how large the heap was at most since.
func heapWatch() func() uint64 {
	runtime.GC()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		largest := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapInuse)
			select {
			case <-stop:
				most <- largest
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}

// TestRestart: a server that dies is started again, and its tools come back.
func TestRestart(t *testing.T) {
	s := opened(t, program("test", ""))
	if r := call(t, s, "test__die", `{}`); !r.IsError || !strings.Contains(r.Text, "it exited with code 3; its last words: mcptest is ready | mcptest: fatal: out of cheese") {
		t.Errorf("dying returned %+v", r)
	}
	deadline := time.Now().Add(patience)
	for r := (tool.Result{}); r.Text != "echo: back"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come back: %+v", s.Notices())
		}
		if echo := lookup(s, "test__echo"); echo != nil {
			r = use(t.Context(), t, echo, `{"text":"back"}`)
		}
	}
	n := s.Notices()
	if len(n) != 2 || n[0].Title != "MCP server not connected" || n[1].Title != "MCP server connected again" {
		t.Errorf("notices %+v", n)
	}
}

// TestOddTools: names and schemas that no provider takes are made safe, each in
// its own way.
func TestOddTools(t *testing.T) {
	s := opened(t, program("odd", "odd"))
	list, _ := s.Tools()
	got := map[string]string{}
	for _, tl := range list {
		got[tl.Spec().Name] = string(tl.Spec().Schema)
	}
	want := map[string]string{
		"odd__get_x":                                emptySchema,
		toolName("odd", "get.x"):                    emptySchema,
		toolName("odd", "ünï code"):                 emptySchema,
		toolName("odd", strings.Repeat("long", 40)): `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		"odd__array":                                `{"items":{"type":"string"},"properties":{},"type":"object"}`,
	}
	for name, schema := range want {
		if compact(got[name]) != compact(schema) {
			t.Errorf("%s has schema %s, not %s", name, got[name], schema)
		}
	}
	if len(got) != len(want) {
		t.Errorf("tools %v", got)
	}
	if r := call(t, s, toolName("odd", "get.x"), `{}`); r.Text != "ran get.x" {
		t.Errorf("get.x ran as %+v", r)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, `"", "get_x"`) {
		t.Errorf("notices %+v", n)
	}
}

func TestManyTools(t *testing.T) {
	s := opened(t, program("many", "many"), program("test", ""))
	list, _ := s.Tools()
	if len(list) != maxTools {
		t.Errorf("%d tools", len(list))
	}
	n := s.Notices()
	if len(n) != 1 || !strings.Contains(n[0].Text, "left out: 890 of many, ") {
		t.Errorf("notices %+v", n)
	}
}

// TestFatTools: what tools say of themselves is bounded, and what is small still
// fits.
func TestFatTools(t *testing.T) {
	s := opened(t, program("fat", "fat"), program("test", ""))
	size, small := 0, false
	list, _ := s.Tools()
	for _, tl := range list {
		size += len(tl.Spec().Description) + len(tl.Spec().Schema)
		small = small || tl.Spec().Name == "test__echo"
	}
	if size > maxOffered || size < maxOffered/2 || !small {
		t.Errorf("%d tools of %d bytes, echo among them: %v", len(list), size, small)
	}
	s.changed()
	s.Tools()
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "left out: 6 of fat.") {
		t.Errorf("notices %+v", n)
	}
}

// TestTimeout: a call ends when its server is silent for too long, goes on while
// there is progress, and tells the server when it is cancelled.
func TestTimeout(t *testing.T) {
	short := program("test", "")
	short.Timeout = 400 * time.Millisecond
	s := opened(t, short)
	if r := call(t, s, "test__hang", `{"text":""}`); !r.IsError || !strings.Contains(r.Text, "no answer within 400ms; raise timeout_secs") {
		t.Errorf("hanging returned %+v", r)
	}
	if r := call(t, s, "test__work", `{"tenths":10}`); r.Text != "done" {
		t.Errorf("working returned %+v", r)
	}
}

func TestCancel(t *testing.T) {
	s := opened(t, program("test", ""))
	mark := filepath.Join(t.TempDir(), "cancelled")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	r := callCtx(ctx, t, s, "test__hang", `{"text":"`+mark+`"}`)
	if took := time.Since(began); !r.IsError || !strings.Contains(r.Text, "cancelled") || took > 5*time.Second {
		t.Errorf("after %s: %+v", took, r)
	}
	deadline := time.Now().Add(patience)
	for {
		if text, _ := os.ReadFile(mark); string(text) == "cancelled" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server was not told")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestChangedTools: what a call was approved for is what runs, or nothing does.
func TestChangedTools(t *testing.T) {
	s := opened(t, program("test", ""))
	old := lookup(s, "test__sum")
	c, err := old.Prepare(t.Context(), &tool.Env{}, []byte(`{"a":1,"b":2}`))
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "test__shrink", `{"text":"sum"}`)
	awaitTool(t, s, "test__sum", false)
	if r := c.Run(t.Context(), tool.SinkFunc(func([]tool.Content) {})); !r.IsError || r.Text != "MCP server test no longer offers sum" {
		t.Errorf("a removed tool: %+v", r)
	}
	c, err = old.Prepare(t.Context(), &tool.Env{}, []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	call(t, s, "test__grow", `{"text":"sum"}`)
	awaitTool(t, s, "test__sum", true)
	if r := c.Run(t.Context(), tool.SinkFunc(func([]tool.Content) {})); !r.IsError || !strings.Contains(r.Text, "has changed its tool sum since") {
		t.Errorf("another tool of that name: %+v", r)
	}
}

// TestClose: a session's end waits for no server longer than it has to, and
// leaves nothing.
func TestClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Open([]Server{program("deaf", "deaf")}, nil, Options{Dir: dir})
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "deaf")); err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatal("the server was not started")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); err == nil {
		t.Error("it says that a deaf server was gone at once")
	}
	if err := s.Close(t.Context()); err != nil { // waits for the whole ladder
		t.Error(err)
	}
}

func compact(s string) string { return strings.ReplaceAll(s, " ", "") }
