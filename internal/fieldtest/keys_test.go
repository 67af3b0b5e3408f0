package fieldtest

import (
	"net/http"
	"strings"
	"testing"
)

// named opens the session of a key.
func (l *Link) named(key string, more object) string {
	l.t.Helper()
	meta := object{"sessionKey": key}
	for name, v := range more {
		meta[name] = v
	}
	var r struct {
		SessionID string `json:"sessionId"`
	}
	l.Must("session/new", object{"cwd": l.w.Cwd, "mcpServers": []any{}, "_meta": meta}, &r)
	return r.SessionID
}

// as connects with a token.
func (g *Gateway) as(token string) *Client {
	g.tb.Helper()
	c := g.Connect(Dial{Anonymous: true, Header: http.Header{"Authorization": {"Bearer " + token}}})
	c.Init()
	return c
}

// TestOneKeyEverywhere: a gateway's client, an editor's process beside it and one
// that names its session by a flag share one session, whoever came first.
func TestOneKeyEverywhere(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	far := g.Connect(Dial{})
	far.Init()
	s := far.named("agent:main:desk", nil)
	near := w.Start()
	near.Init()
	if got := near.named("agent:main:desk", nil); got != s {
		t.Fatalf("beside the gateway the key names %s, there %s", got, s)
	}
	if got := near.Prompt(s, "D:SAY from the editor").StopReason(); got != "end_turn" {
		t.Fatalf("the turn ended by %s", got)
	}
	far.AwaitUpdate(s, 0, "the words", func(u Update) bool { return strings.Contains(u.Text, "from the editor") })

	fresh := far.named("agent:main:desk", object{"resetSession": true})
	if fresh == s {
		t.Error("the key was not reset")
	}
	if got := near.named("agent:main:desk", nil); got != fresh {
		t.Errorf("after the reset the key names %s, there %s", got, fresh)
	}
	for _, args := range [][]string{{"--session", "agent:main:desk"}, {"--session", "agent:main:desk", "--require-existing"}} {
		a := w.Start(args...)
		a.Init()
		if got := a.New(); got != fresh {
			t.Errorf("%v opens %s, want %s", args, got, fresh)
		}
		a.Quit()
	}
	near.Quit()
	g.Stop()
	again := w.Start("--session", "agent:main:desk")
	again.Init()
	if got := again.New(); got != fresh {
		t.Errorf("without the gateway the key names %s, want %s", got, fresh)
	}
}

// TestSharedOnTheGateway: an owner is let into a session and out of it by the
// command line, while it is open.
func TestSharedOnTheGateway(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	owner := g.Connect(Dial{})
	owner.Init()
	s := owner.New()
	bob, ann := g.as(w.token("bob")), g.as(w.token("ann"))
	if m := bob.Call("session/load", w.LoadParams(s)); m.Error == nil || m.Error.Code != -32002 {
		t.Fatalf("bob loads it before it is shared: %s", m.Result)
	}
	w.grapnel("", "session", "share", s, "bob", "prompter")
	w.grapnel("", "session", "share", s, "ann", "observer")
	for _, c := range []*Client{bob, ann} {
		c.Must("session/load", w.LoadParams(s), nil)
	}
	if got := bob.Prompt(s, "D:SAY bob was here").StopReason(); got != "end_turn" {
		t.Errorf("bob's turn ended by %s", got)
	}
	for _, c := range []*Client{owner, ann} {
		c.AwaitUpdate(s, 0, "what bob said", func(u Update) bool { return u.Kind == "user_message_chunk" && strings.Contains(u.Text, "bob was here") })
	}
	if m := ann.Prompt(s, "D:SAY no"); m.Error == nil || !strings.Contains(m.Error.Message, "role does not allow") {
		t.Errorf("an observer prompts: %s", m.StopReason())
	}
	w.grapnel("", "session", "share", s, "ann", "--revoke")
	if got := owner.Prompt(s, "D:SAY without ann").StopReason(); got != "end_turn" {
		t.Errorf("the owner's turn ended by %s", got)
	}
	bob.AwaitUpdate(s, 0, "the owner's words", func(u Update) bool { return strings.Contains(u.Text, "without ann") })
	if m := ann.Call("session/resume", w.LoadParams(s)); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("ann comes back: %s", m.Result)
	}
	if said := ann.Said(s, 0); strings.Contains(said, "without ann") {
		t.Errorf("ann heard %q", said)
	}
}

// TestAllHandsOnARemoteClient: its files and commands, in a directory that the
// gateway does not have; and nothing of a client that does not offer them all.
func TestAllHandsOnARemoteClient(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `auto_approve = ["file_read", "file_write", "shell"]`)
	g := w.Gateway()
	c := g.Connect(Dial{})
	hands := object{"fs": object{"readTextFile": true, "writeTextFile": true}, "terminal": true, "_meta": object{"grapnel": object{"tools": "client"}}}
	c.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": hands}, nil)
	const cwd = "/nowhere/project"
	var r struct {
		SessionID string `json:"sessionId"`
	}
	c.Must("session/new", object{"cwd": cwd, "mcpServers": []any{}}, &r)
	turn := c.BeginPrompt(r.SessionID, "D:TOOL read a.txt ; D:TOOL shell make it")
	answers := map[string]string{
		"terminal/create": `{"terminalId":"t1"}`, "terminal/wait_for_exit": `{"exitCode":0}`,
		"terminal/output": `{"output":"made here","truncated":false,"exitStatus":{"exitCode":0}}`, "terminal/release": `{}`,
	}
	seen := map[string]string{}
	for from := 0; seen["terminal/release"] == ""; {
		m := c.Await(from, "a request", func(m Message) bool { return m.Method != "" && len(m.ID) > 0 })
		from = m.Line + 1
		seen[m.Method] += string(m.Params)
		answer, ok := answers[m.Method]
		if m.Method == "fs/read_text_file" && strings.Contains(string(m.Params), cwd+"/a.txt") {
			answer, ok = `{"content":"of the client"}`, true
		}
		if !ok {
			c.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32002,"message":"no such file"}}`)
			continue
		}
		c.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + answer + `}`)
	}
	if got := c.Response(turn).StopReason(); got != "end_turn" {
		t.Errorf("the turn ended by %s", got)
	}
	if p := seen["terminal/create"]; !strings.Contains(p, `"make it"`) || !strings.Contains(p, `"cwd":"`+cwd+`"`) {
		t.Errorf("the client was to run %s", p)
	}
	half := g.Connect(Dial{})
	half.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"_meta": object{"grapnel": object{"tools": "client"}}}}, nil)
	if m := half.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a client without hands gets %s", m.Result)
	}
}
