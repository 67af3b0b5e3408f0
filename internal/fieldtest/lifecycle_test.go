package fieldtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestL1ExitOnEOF(t *testing.T) {
	w := NewWorld(t)
	t.Run("at once", func(t *testing.T) { w.Start().Quit() })
	t.Run("after initialize", func(t *testing.T) {
		a := w.Start()
		a.Init()
		a.Quit()
	})
	t.Run("with a session", func(t *testing.T) {
		a, _ := w.Opened()
		a.Quit()
	})
}

// TestL2AcceptedWorkIsAnsweredAfterEOF: a script pipes everything and closes.
func TestL2AcceptedWorkIsAnsweredAfterEOF(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	id := a.BeginPrompt(s, "D:SAY late")
	a.Quit()
	if got := a.Response(id).StopReason(); got != "end_turn" || a.Said(s, 0) != "late" {
		t.Errorf("stop reason %s, said %q", got, a.Said(s, 0))
	}
}

func TestL3EOFInATurnLeavesNothingRunning(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`, `auto_approve = ["shell"]`)
	a, s := w.Opened()
	ticks := filepath.Join(w.Cwd, "ticks")
	id := a.BeginPrompt(s, "D:TOOL shell while :; do date >> "+ticks+"; sleep 0.05; done")
	a.AwaitRunning(s, 0)
	waitFor(t, "the command's first output", func() bool { return fileSize(ticks) > 0 })
	if !runs(t, ticks) {
		t.Error("the command is not to be seen")
	}
	a.Quit()
	if got := a.Response(id).StopReason(); got != "cancelled" {
		t.Errorf("the turn ended with %s", got)
	}
	waitGone(t, ticks)
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	ups := b.Updates(s, 0)
	if !hasUpdate(ups, func(u Update) bool { return u.Kind == "user_message_chunk" }) {
		t.Error("the prompt is gone")
	}
	if !hasUpdate(ups, func(u Update) bool { return u.Status == "failed" }) {
		t.Error("no failed tool call is shown")
	}
}

func TestL3BothPipesClosedInATurn(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["*"]`, `auto_approve = ["shell"]`)
	a, s := w.Opened()
	started := filepath.Join(w.Cwd, "started")
	a.BeginPrompt(s, "D:TOOL shell echo yes > "+started+"; while :; do echo tick; sleep 0.02; done")
	a.AwaitRunning(s, 0)
	waitFor(t, "the command to start", func() bool { return fileSize(started) > 0 })
	a.CloseOutput()
	a.CloseInput()
	if code := a.WaitExit(); code != 0 {
		t.Errorf("exit code %d\n%s", code, a.Stderr())
	}
	waitGone(t, started)
}

func TestL12Order(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	if m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("session/new before initialize: %+v", m.Error)
	}
	a.Init()
	s := a.New()
	a.Init()
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Errorf("after a second initialize: %s", got)
	}
}

func TestL13ProtocolVersions(t *testing.T) {
	w := NewWorld(t)
	for _, c := range []struct {
		params string
		code   int // 0: version 1 is answered
	}{
		{`{"protocolVersion":0}`, 0},
		{`{"protocolVersion":1}`, 0},
		{`{"protocolVersion":2}`, 0},
		{`{"protocolVersion":99}`, 0},
		{`{"protocolVersion":65535}`, 0},
		{`{"protocolVersion":"1"}`, 0},
		{`{}`, 0},
		{``, 0},
		{`{"protocolVersion":null}`, -32602},
		{`{"protocolVersion":-1}`, -32602},
		{`{"protocolVersion":1.5}`, -32602},
		{`{"protocolVersion":65536}`, -32602},
		{`{"protocolVersion":true}`, -32602},
		{`{"protocolVersion":"2024-11-05"}`, -32602},
		{`{"protocolVersion":{}}`, -32602},
		{`{"protocolVersion":1,"clientCapabilities":"nonsense","clientInfo":7}`, 0},
	} {
		a := w.Start()
		line := `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
		if c.params != "" {
			line = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + c.params + `}`
		}
		a.Send(line)
		m := a.Response("1")
		switch {
		case c.code != 0 && (m.Error == nil || m.Error.Code != c.code):
			t.Errorf("%s: %s %+v, want code %d", c.params, m.Result, m.Error, c.code)
		case c.code == 0 && !strings.Contains(string(m.Result), `"protocolVersion":1,`):
			t.Errorf("%s: %s %+v", c.params, m.Result, m.Error)
		}
		a.Quit()
	}
}

func TestL14UnknownMethods(t *testing.T) {
	a := NewWorld(t).Start()
	a.Init()
	from := a.Lines()
	a.Send(Notification("_x/y", object{}))
	a.Send(Notification("no/such", object{}))
	for _, method := range []string{"_x/y", "no/such", "session/unheard_of"} {
		if m := a.Call(method, object{}); m.Error == nil || m.Error.Code != -32601 || !strings.Contains(string(m.Error.Data), method) {
			t.Errorf("%s: %+v", method, m.Error)
		}
	}
	if got := a.Lines() - from; got != 3 {
		t.Errorf("%d messages for three requests:\n%s", got, a.Transcript())
	}
}

func TestL14ClientThatNeverAnswersFS(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Must("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"fs": object{"readTextFile": true, "writeTextFile": true}},
	}, nil)
	if err := os.WriteFile(filepath.Join(w.Cwd, "a.txt"), []byte("hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := a.New()
	id := a.BeginPrompt(s, "D:TOOL read a.txt")
	a.Await(0, "fs/read_text_file", func(m Message) bool { return m.Method == "fs/read_text_file" })
	a.Cancel(s)
	if got := a.Response(id).StopReason(); got != "cancelled" {
		t.Error(got)
	}
}
