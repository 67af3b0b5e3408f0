package fieldtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// clientRequest waits for a request of the agent to the client.
func (a *Agent) clientRequest(from int, method string) (id string, params map[string]any) {
	a.t.Helper()
	m := a.Await(from, method, func(m Message) bool { return m.Method == method })
	if err := json.Unmarshal(m.Params, &params); err != nil {
		a.t.Fatal(err)
	}
	return string(m.ID), params
}

func (a *Agent) result(id, result string) {
	a.t.Helper()
	a.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func TestClientFilesCount(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `auto_approve = ["file_read", "file_edit"]`)
	name := filepath.Join(w.Cwd, "a.txt")
	if err := os.WriteFile(name, []byte("saved\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := w.Start()
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"fs": object{"readTextFile": true, "writeTextFile": true}}}, nil)
	s := a.New()
	turn := a.BeginPrompt(s, "D:TOOL read a.txt ; D:TOOL edit a.txt|unsaved|changed")
	id, p := a.clientRequest(0, "fs/read_text_file")
	if p["path"] != name || p["sessionId"] != s {
		t.Errorf("fs/read_text_file %v", p)
	}
	a.result(id, `{"content":"unsaved\n"}`)
	u := a.AwaitUpdate(s, 0, "the read", func(u Update) bool { return u.Status == "completed" })
	if !strings.Contains(toolText(t, u), "unsaved") {
		t.Errorf("the buffer was not read: %q", toolText(t, u))
	}
	from := 0
	for { // the edit reads as often as it needs to
		m := a.Await(from, "fs/read or fs/write", func(m Message) bool { return strings.HasPrefix(m.Method, "fs/") })
		if m.Method == "fs/write_text_file" {
			break
		}
		if string(m.ID) != id { // the first was answered above
			a.result(string(m.ID), `{"content":"unsaved\n"}`)
		}
		from = m.Line + 1
	}
	id, p = a.clientRequest(0, "fs/write_text_file")
	if p["content"] != "changed\n" || p["path"] != name {
		t.Errorf("fs/write_text_file %v", p)
	}
	a.result(id, `{}`)
	if got := a.Response(turn).StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestClientTerminalRunsCommands(t *testing.T) {
	// What is confined runs on the host: no client confines its terminals.
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["echo"]`, `sandbox = "none"`)
	a := w.Start()
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"terminal": true}}, nil)
	s := a.New()
	turn := a.BeginPrompt(s, "D:TOOL shell echo hi there")
	id, p := a.clientRequest(0, "terminal/create")
	if command, _ := p["command"].(string); strings.Contains(command, " ") || p["cwd"] != w.Cwd {
		t.Errorf("terminal/create %v", p)
	}
	a.result(id, `{"terminalId":"term1"}`)
	id, _ = a.clientRequest(0, "terminal/wait_for_exit")
	a.AwaitUpdate(s, 0, "the embedded terminal", func(u Update) bool { return strings.Contains(string(u.Raw["content"]), `"term1"`) })
	a.result(id, `{"exitCode":0,"signal":null}`)
	seen := 0
	for {
		m := a.Await(seen, "terminal/output or release", func(m Message) bool {
			return m.Method == "terminal/output" || m.Method == "terminal/release"
		})
		seen = m.Line + 1
		if m.Method == "terminal/release" {
			a.result(string(m.ID), `{}`)
			break
		}
		a.result(string(m.ID), `{"output":"hi there\n","truncated":false,"exitStatus":{"exitCode":0}}`)
	}
	if got := a.Response(turn).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	reqs := w.Model.Requests()
	if !strings.Contains(string(reqs[len(reqs)-1].Body), "hi there") {
		t.Error("the model did not get the terminal's output")
	}
}

func TestQuestions(t *testing.T) {
	w := NewWorld(t)
	t.Run("elicitation", func(t *testing.T) {
		a := w.Start()
		a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{"elicitation": object{"form": object{}}}}, nil)
		s := a.New()
		turn := a.BeginPrompt(s, `D:TOOL ask_user {"question":"Which colour?"}`)
		id, p := a.clientRequest(0, "elicitation/create")
		if p["message"] != "Which colour?" || p["mode"] != "form" {
			t.Errorf("elicitation/create %v", p)
		}
		a.result(id, `{"action":"accept","content":{"answer":"blue"}}`)
		a.Response(turn)
		reqs := w.Model.Requests()
		if !strings.Contains(string(reqs[len(reqs)-1].Body), "blue") {
			t.Error("the model did not get the answer")
		}
	})
	t.Run("options", func(t *testing.T) {
		a, s := w.Opened()
		turn := a.BeginPrompt(s, `D:TOOL ask_user {"question":"Which?","choices":["red","green"]}`)
		p := a.AwaitPermission(0)
		if len(p.Options) < 2 || p.Options[1].Name != "green" || p.Options[1].ID != "choice-1" {
			t.Errorf("options %+v", p.Options)
		}
		a.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": "choice-1"}})
		a.Response(turn)
		reqs := w.Model.Requests()
		if !strings.Contains(string(reqs[len(reqs)-1].Body), "green") {
			t.Error("the model did not get the choice")
		}
	})
	t.Run("free text without elicitation", func(t *testing.T) {
		a, s := w.Opened()
		if got := a.Prompt(s, `D:TOOL ask_user {"question":"Which?"}`).StopReason(); got != "end_turn" {
			t.Error(got)
		}
		a.AwaitUpdate(s, 0, "a failed question", func(u Update) bool { return u.Status == "failed" })
	})
}
