package bridge_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/bridge"
)

// line is a bridge with the bare messages at both ends of it.
type line struct {
	t       *testing.T
	editor  acp.MessageConn
	gateway chan acp.MessageConn // a new one for each connection
	ended   chan error
}

var errDown = errors.New("cannot connect: nothing listens there")

// newLine starts a bridge; with up false its gateway cannot be reached at first.
func newLine(t *testing.T, o bridge.Options, far bool) *line {
	near, client := acp.NewPipe()
	l := &line{t: t, editor: near, gateway: make(chan acp.MessageConn, 8), ended: make(chan error, 1)}
	if o.Target == nil {
		o.Target = func(context.Context) (bridge.Target, error) { return bridge.Target{Far: far}, nil }
	}
	if o.Connect == nil {
		o.Connect = func(context.Context, bridge.Target) (acp.MessageConn, error) {
			mine, theirs := acp.NewPipe()
			l.gateway <- mine
			return theirs, nil
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var task sync.WaitGroup
	task.Go(func() { l.ended <- bridge.New(client, o).Run(ctx); _ = client.Close() })
	t.Cleanup(func() { _ = near.Close(); cancel(); task.Wait() })
	return l
}

func read(t *testing.T, c acp.MessageConn) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		msg, err := c.ReadMessage(context.Background())
		if err != nil {
			msg = jsontext.Value("error: " + err.Error())
		}
		got <- string(msg)
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(patience):
		t.Fatal("no message comes")
		return ""
	}
}

func write(t *testing.T, c acp.MessageConn, msg string) {
	t.Helper()
	if err := c.WriteMessage(context.Background(), jsontext.Value(msg)); err != nil {
		t.Fatal(err)
	}
}

// greet passes the handshake and returns the gateway's end, with what it got.
func (l *line) greet(params string) (acp.MessageConn, string) {
	l.t.Helper()
	write(l.t, l.editor, `{"jsonrpc":"2.0","id":"hi","method":"initialize","params":`+params+`}`)
	g := <-l.gateway
	got := read(l.t, g)
	write(l.t, g, `{"jsonrpc":"2.0","id":`+id(l.t, got)+`,"result":{"protocolVersion":1,"x":[ 1]}}`)
	want := `{"jsonrpc":"2.0","id":"hi","result":{"protocolVersion":1,"x":[ 1]}}`
	if answer := read(l.t, l.editor); answer != want {
		l.t.Fatalf("initialize is answered %s, want %s", answer, want)
	}
	return g, got
}

func id(t *testing.T, msg string) string { return at(t, msg, "id") }

// at is the JSON at a path of a message, "" where there is none.
func at(t *testing.T, msg string, path ...string) string {
	t.Helper()
	v := jsontext.Value(msg)
	for _, name := range path {
		var m map[string]jsontext.Value
		if len(v) == 0 || json.Unmarshal(v, &m) != nil {
			return ""
		}
		v = m[name]
	}
	return string(v)
}

// TestBytesPassAsTheyAre: ids, spacing, unknown members, and what is no JSON.
func TestBytesPassAsTheyAre(t *testing.T) {
	l := newLine(t, bridge.Options{}, false)
	g, _ := l.greet(`{"protocolVersion":1}`)
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"session/list","params":{ "cwd" : "/x","zz":1e400 },"extra":[]}`,
		`{"id":"a\u0062\"","jsonrpc":"2.0","method":"_mine/thing"}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"odd"}`,
		`{this is no JSON`,
		`[1,2]`,
	} {
		write(t, l.editor, msg)
		if got := read(t, g); got != msg {
			t.Errorf("the gateway got %s, sent was %s", got, msg)
		}
	}
	for _, msg := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{ "sessions" : [] },"more":true}`,
		`{"jsonrpc":"2.0","id":"a\u0062\"","error":{"code":-1,"message":"é","data":{}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"new_kind", "x":0.10}}}`,
		`{"jsonrpc":"2.0","id":"gp-out-e_1","method":"session/request_permission","params":{"sessionId":"s"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
	} {
		write(t, g, msg)
		if got := read(t, l.editor); got != msg {
			t.Errorf("the client got %s, sent was %s", got, msg)
		}
	}
	answer := `{"jsonrpc":"2.0","id":"gp-out-e_1","result":{ "outcome":{"outcome":"cancelled"}}}`
	write(t, l.editor, answer)
	if got := read(t, g); got != answer {
		t.Errorf("the answer came as %s", got)
	}
}

// TestInitializeBehindARequest: it is answered, and introduces the client on the
// next connection.
func TestInitializeBehindARequest(t *testing.T) {
	l := newLine(t, bridge.Options{}, false)
	write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/list"}`)
	g := <-l.gateway
	read(t, g)
	write(t, l.editor, `{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
	if got := read(t, g); id(t, got) != "2" || at(t, got, "params", "clientCapabilities", "_meta", "grapnel", "tools") != `"gateway"` {
		t.Errorf("the gateway got %s", got)
	}
	for _, answer := range []string{`{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		write(t, g, answer)
		if got := read(t, l.editor); got != answer {
			t.Errorf("the client got %s", got)
		}
	}
	_ = g.Close()
	write(t, l.editor, `{"jsonrpc":"2.0","id":3,"method":"session/list"}`)
	if got := read(t, <-l.gateway); at(t, got, "method") != `"initialize"` {
		t.Errorf("the next connection begins with %s", got)
	}
}

// TestPromptHasAKey: the same on each connection, another for each prompt.
func TestPromptHasAKey(t *testing.T) {
	l := newLine(t, bridge.Options{}, false)
	g, _ := l.greet(`{}`)
	key := func(msg string) string { return at(t, msg, "params", "_meta", "grapnel", "key") }
	write(t, l.editor, `{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":[],"_meta":{"a":1}}}`)
	first := read(t, g)
	if key(first) == "" || at(t, first, "params", "_meta", "a") != "1" || id(t, first) != "5" {
		t.Errorf("the prompt came as %s", first)
	}
	_ = g.Close()
	g = <-l.gateway
	write(t, g, `{"jsonrpc":"2.0","id":`+id(t, read(t, g))+`,"result":{"protocolVersion":1}}`)
	if again := read(t, g); again != first {
		t.Errorf("sent again as %s, first as %s", again, first)
	}
	write(t, g, `{"jsonrpc":"2.0","id":5,"result":{"stopReason":"end_turn"}}`)
	read(t, l.editor)
	write(t, l.editor, `{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	if second := read(t, g); key(second) == key(first) || key(second) == "" {
		t.Errorf("keys %s and %s", key(first), key(second))
	}
}

// TestSentOnce: what might be done twice is not sent again.
func TestSentOnce(t *testing.T) {
	l := newLine(t, bridge.Options{}, false)
	g, _ := l.greet(`{}`)
	write(t, l.editor, `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/"}}`)
	read(t, g)
	_ = g.Close()
	g = <-l.gateway
	write(t, g, `{"jsonrpc":"2.0","id":`+id(t, read(t, g))+`,"result":{"protocolVersion":1}}`)
	if got := read(t, l.editor); at(t, got, "error", "data", "reason") != `"interrupted"` || id(t, got) != "5" {
		t.Errorf("the client got %s", got)
	}
}

// TestHandsOfAClientElsewhere: its files and terminals are not those of the
// gateway's host.
func TestHandsOfAClientElsewhere(t *testing.T) {
	const hands = `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"x":{"y":1}},"z":0}`
	tests := []struct {
		name           string
		far            bool
		o              bridge.Options
		terminal, says string
	}{
		{"here", false, bridge.Options{}, "true", `false,"tools":"gateway"`},
		{"elsewhere", true, bridge.Options{}, "false", `false,"tools":"gateway"`},
		{"shared paths", true, bridge.Options{ClientFs: true}, "true", `true,"tools":"gateway"`},
		{"tools with the client", true, bridge.Options{ToolsClient: true}, "true", `false,"tools":"client"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got := newLine(t, tt.o, tt.far).greet(hands)
			caps := func(path ...string) string {
				return at(t, got, append([]string{"params", "clientCapabilities"}, path...)...)
			}
			if caps("terminal") != tt.terminal || caps("fs", "readTextFile") != tt.terminal || caps("fs", "writeTextFile") != tt.terminal {
				t.Errorf("hands in %s", got)
			}
			if caps("x", "y") != "1" || at(t, got, "params", "z") != "0" {
				t.Errorf("other members in %s", got)
			}
			if says := caps("_meta", "grapnel"); !strings.Contains(says, `"clientFs":`+tt.says) || !strings.Contains(says, `"bridge":"`) {
				t.Errorf("_meta.grapnel is %s", says)
			}
		})
	}
}

// TestSessionChoice: flags count where the client says nothing, and a session is
// begun anew once.
func TestSessionChoice(t *testing.T) {
	l := newLine(t, bridge.Options{SessionKey: "agent:main:x", Reset: true, NoPrefixCwd: true, Provenance: bridge.ProvenanceMeta}, false)
	g, _ := l.greet(`{}`)
	ask := func(n, params, answer string) string {
		write(t, l.editor, `{"jsonrpc":"2.0","id":`+n+`,"method":"session/new","params":`+params+`}`)
		got := read(t, g)
		write(t, g, `{"jsonrpc":"2.0","id":`+n+`,`+answer+`}`)
		read(t, l.editor)
		return at(t, got, "params", "_meta")
	}
	const failed, fine = `"error":{"code":-32603,"message":"no"}`, `"result":{"sessionId":"s_1"}`
	meta := ask("1", `{"cwd":"/w"}`, failed)
	if diff := cmp.Diff(`"agent:main:x" true false "/w"`, strings.Join([]string{
		at(t, meta, "sessionKey"), at(t, meta, "resetSession"), at(t, meta, "prefixCwd"), at(t, meta, "provenance", "originCwd"),
	}, " ")); diff != "" {
		t.Error(diff)
	}
	if meta := ask("2", `{"cwd":"/w"}`, fine); at(t, meta, "resetSession") != "true" {
		t.Errorf("after a failure: %s", meta)
	}
	if meta := ask("3", `{"cwd":"/w"}`, fine); at(t, meta, "resetSession") != "" || at(t, meta, "sessionKey") == "" {
		t.Errorf("after a success: %s", meta)
	}
	if meta := ask("4", `{"cwd":"/w","_meta":{"sessionLabel":"mine"}}`, fine); at(t, meta, "sessionKey") != "" || at(t, meta, "sessionLabel") != `"mine"` {
		t.Errorf("where the client chooses: %s", meta)
	}
}

// TestDirectoryThatIsNotThere: the agent works in its workspace, and the client
// is told.
func TestDirectoryThatIsNotThere(t *testing.T) {
	for _, far := range []bool{true, false} {
		l := newLine(t, bridge.Options{}, far)
		g, _ := l.greet(`{}`)
		write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/not/there","mcpServers":[]}}`)
		read(t, g)
		refusal := `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"directory /not/there cannot be used"}}`
		write(t, g, refusal)
		if !far {
			if got := read(t, l.editor); got != refusal {
				t.Errorf("on the same host: %s", got)
			}
			continue
		}
		if again := read(t, g); at(t, again, "params", "cwd") != `"."` || id(t, again) != "1" {
			t.Errorf("asked again with %s", again)
		}
		write(t, g, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s_1"}}`)
		if got := read(t, l.editor); at(t, got, "result", "sessionId") != `"s_1"` {
			t.Errorf("the client got %s", got)
		}
		if got := read(t, l.editor); !strings.Contains(got, "/not/there is not there on the gateway's host") || at(t, got, "params", "sessionId") != `"s_1"` {
			t.Errorf("the client is told %s", got)
		}
	}
}

func TestProvenance(t *testing.T) {
	l := newLine(t, bridge.Options{Provenance: bridge.ProvenanceReceipt}, false)
	g, _ := l.greet(`{}`)
	write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w[x]"}}`)
	read(t, g)
	write(t, g, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s_1","_meta":{"grapnel":{"toolsInCwd":false}}}}`)
	read(t, l.editor)
	write(t, l.editor, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s_1","prompt":[{"type":"text","text":"go"}]}}`)
	got := read(t, g)
	for _, name := range []string{"bridge", "originHost", "originCwd", "acpSessionId", "originSessionId", "targetSession"} {
		if at(t, got, "params", "_meta", "provenance", name) == "" {
			t.Errorf("no %s in %s", name, got)
		}
	}
	var p struct {
		Params struct {
			Prompt []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(got), &p, json.MatchCaseInsensitiveNames(true)); err != nil || len(p.Params.Prompt) != 3 {
		t.Fatalf("%v in %s", err, got)
	}
	receipt, where := p.Params.Prompt[0].Text, p.Params.Prompt[1].Text
	if !strings.HasPrefix(receipt, "[Source Receipt]\n") || !strings.HasSuffix(receipt, "\n[/Source Receipt]") || !strings.Contains(receipt, "directory: /w x \n") {
		t.Errorf("the receipt is %q", receipt)
	}
	if where != "[Working directory: /w[x]]" || p.Params.Prompt[2].Text != "go" {
		t.Errorf("the prompt is %q", p.Params.Prompt)
	}
}

// TestWithoutAGateway: initialize is answered, the rest fails with one sentence,
// and works when the gateway is there.
func TestWithoutAGateway(t *testing.T) {
	var mu sync.Mutex
	up := false
	g := newGate(t)
	e := g.open(bridge.Options{Version: "test", Target: func(ctx context.Context) (bridge.Target, error) {
		mu.Lock()
		defer mu.Unlock()
		if !up {
			return bridge.Target{}, errDown
		}
		return g.target(ctx)
	}})
	alone := e.must("initialize", `{"protocolVersion":1}`)
	fault := e.fails("session/new", `{"cwd":"`+g.dir+`","mcpServers":[]}`)
	if fault.Message != errDown.Error() || string(fault.Data) != `{"reason":"gateway_unreachable"}` {
		t.Errorf("session/new fails with %v %s", fault, fault.Data)
	}
	mu.Lock()
	up = true
	mu.Unlock()
	id := e.newSession(g.dir)
	e.must("session/prompt", prompt(id, "say hello"))
	e.until("hello")

	direct := g.open(bridge.Options{})
	asked := direct.must("initialize", `{"protocolVersion":1}`)
	for _, name := range []string{"protocolVersion", "agentCapabilities", "agentInfo"} {
		if diff := cmp.Diff(canonical(t, at(t, string(asked), name)), canonical(t, at(t, string(alone), name))); diff != "" {
			t.Errorf("%s is not what a gateway says (-gateway +alone):\n%s", name, diff)
		}
	}
}

func canonical(t *testing.T, v string) string {
	t.Helper()
	j := jsontext.Value(v)
	if err := j.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	if err := j.Indent(); err != nil {
		t.Fatal(err)
	}
	return string(j)
}

// TestEnd: what the client asked is answered before the bridge ends, within the
// bound.
func TestEnd(t *testing.T) {
	t.Run("nothing asked", func(t *testing.T) {
		l := newLine(t, bridge.Options{}, false)
		_ = l.editor.Close()
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("in the handshake", func(t *testing.T) {
		l := newLine(t, bridge.Options{Drain: 50 * time.Millisecond}, false)
		write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		<-l.gateway
		_ = l.editor.Close()
		if err := <-l.ended; err != nil {
			t.Error(err)
		}
	})
	t.Run("unanswered", func(t *testing.T) {
		l := newLine(t, bridge.Options{Drain: 50 * time.Millisecond}, false)
		g, _ := l.greet(`{}`)
		write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
		read(t, g)
		_ = l.editor.Close()
		if err := <-l.ended; !errors.Is(err, bridge.ErrUnfinished) || !strings.Contains(err.Error(), "1 request was open") {
			t.Errorf("the end is %v", err)
		}
	})
}

// TestNewerGateway: one sentence says what to do.
func TestNewerGateway(t *testing.T) {
	l := newLine(t, bridge.Options{}, false)
	write(t, l.editor, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	write(t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}`)
	g := <-l.gateway
	write(t, g, `{"jsonrpc":"2.0","id":`+id(t, read(t, g))+`,"result":{"protocolVersion":3}}`)
	read(t, l.editor)
	if got := read(t, l.editor); !strings.Contains(at(t, got, "error", "message"), "update grapnel here") {
		t.Errorf("the client got %s", got)
	}
	_ = l.editor.Close()
	refused := (*bridge.RefusedError)(nil)
	if err := <-l.ended; !errors.As(err, &refused) {
		t.Errorf("the end is %v", err)
	}
}
