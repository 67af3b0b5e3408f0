package fieldtest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
)

// mcpServer is a server for session/new and the like: this binary, in the mode,
// with a variable of its own.
func mcpServer(name, mode string) object {
	return object{"name": name, "command": os.Args[0], "args": []string{}, "env": []object{
		{"name": mcptest.Env, "value": mode}, {"name": "NOTES_TOKEN", "value": "SEKRET-NOTES"},
	}}
}

// initNotices shakes hands as a client that shows notices.
func (a *Agent) initNotices() {
	a.t.Helper()
	a.Must("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"session": object{"notices": object{}}},
		"clientInfo":         object{"name": "field", "version": "0"},
	}, nil)
}

// newWith opens a session with MCP servers.
func (a *Agent) newWith(servers ...object) string {
	a.t.Helper()
	var r struct {
		SessionID string `json:"sessionId"`
	}
	a.Must("session/new", object{"cwd": a.w.Cwd, "mcpServers": servers}, &r)
	return r.SessionID
}

// tools are the names offered in the model's last request.
func (w *World) tools() []string {
	requests := w.Model.Requests()
	return requests[len(requests)-1].Tools
}

// notices are the notices of a session, from a line on.
func (a *Agent) notices(session string, from int) []string {
	var list []string
	for _, u := range a.Updates(session, from) {
		if u.Kind == "notice" {
			var text string
			_ = json.Unmarshal(u.Raw["description"], &text)
			list = append(list, u.Title+": "+text)
		}
	}
	return list
}

// autoMCP lets calls of the server notes through.
const autoMCP = "[autonomy]\nauto_approve = ['mcp(notes__*)']\n"

// TestV1ServersAreUsable: tools of a passed server are in the first request of
// the model, its variables arrive, its calls work; one that cannot be used is
// said, with its name and why.
func TestV1ServersAreUsable(t *testing.T) {
	w := NewWorld(t, autoMCP)
	web := httptest.NewServer(mcptest.HTTP(mcptest.New()))
	defer web.Close()
	a := w.Start()
	a.initNotices()
	session := a.newWith(mcpServer("notes", ""), mcpServer("broken", "exit"),
		object{"type": "http", "name": "web", "url": web.URL, "headers": []object{}},
		object{"type": "http", "name": "gone", "url": "http://127.0.0.1:1/", "headers": []object{}})
	m := a.Prompt(session, `D:TOOL notes__env {"text":"NOTES_TOKEN"}`)
	if m.StopReason() != "end_turn" {
		t.Fatal(m.StopReason())
	}
	first := w.Model.Requests()[0].Tools
	for _, name := range []string{"notes__echo", "web__echo", "file_read"} {
		if !slices.Contains(first, name) {
			t.Errorf("the model's first request has no tool %s: %v", name, first)
		}
	}
	last := w.Model.Requests()[len(w.Model.Requests())-1].Body
	if !strings.Contains(string(last), "[redacted]") || strings.Contains(string(last), "SEKRET-NOTES") {
		t.Errorf("the variable did not arrive, or went to the model: %s", last)
	}
	said := strings.Join(a.notices(session, 0), "\n")
	for _, want := range []string{"broken are not available: it exited with code 7; its last words: mcptest: cannot find its token", "gone are not available"} {
		if !strings.Contains(said, want) {
			t.Errorf("no notice says %q; there are:\n%s", want, said)
		}
	}
	a.Prompt(session, "D:SAY again")
	if n := len(a.notices(session, 0)); n != len(strings.Split(said, "\n")) {
		t.Errorf("the second prompt brought notices again:\n%s", strings.Join(a.notices(session, 0), "\n"))
	}
	a.Quit()
}

// TestV1PermissionShowsTheCall: the request names server, tool and arguments.
func TestV1PermissionShowsTheCall(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.initNotices()
	session := a.newWith(mcpServer("notes", ""))
	id := a.BeginPrompt(session, `D:TOOL notes__echo {"text":"hello"}`)
	p := a.AwaitPermission(0)
	if p.ToolCall.Title != `notes: echo {"text":"hello"}` || string(p.ToolCall.RawInput) != `{"text":"hello"}` {
		t.Errorf("asked with title %q and input %s", p.ToolCall.Title, p.ToolCall.RawInput)
	}
	a.Choose(p, "allow_always")
	a.Response(id)
	from := a.Lines()
	a.Prompt(session, `D:TOOL notes__echo {"text":"again"}`)
	for _, m := range a.Messages()[from:] {
		if m.Method == "session/request_permission" {
			t.Error("asked again although always allowed")
		}
	}
	a.Quit()
}

// TestV3ServersAfterLoad: after a restart a load with the list has the tools, a
// load with an empty one has not, and what was said of a broken server is not
// said again.
func TestV3ServersAfterLoad(t *testing.T) {
	w := NewWorld(t, autoMCP)
	a := w.Start()
	a.initNotices()
	session := a.newWith(mcpServer("notes", ""), mcpServer("broken", "exit"))
	a.Prompt(session, `D:TOOL notes__echo {"text":"one"}`)
	a.Quit()

	with := w.LoadParams(session)
	with["mcpServers"] = []object{mcpServer("notes", ""), mcpServer("broken", "exit")}
	for method, want := range map[string]bool{"session/load": true, "session/resume": true} {
		a = w.Start()
		a.initNotices()
		a.Must(method, with, nil)
		from := a.Lines()
		a.Prompt(session, `D:TOOL notes__echo {"text":"two"}`)
		if slices.Contains(w.tools(), "notes__echo") != want {
			t.Errorf("%s with the list: %v", method, w.tools())
		}
		if n := a.notices(session, from); len(n) > 0 {
			t.Errorf("%s: said again: %v", method, n)
		}
		a.Quit()
	}

	a = w.Start()
	a.initNotices()
	a.Must("session/load", w.LoadParams(session), nil)
	a.Prompt(session, "D:SAY three")
	if slices.Contains(w.tools(), "notes__echo") {
		t.Errorf("a load with no servers has %v", w.tools())
	}
	a.Quit()
}

// TestV3ServersOfAReload: a client that loads an active session with another list
// gets its tools, also when a turn runs meanwhile; what others brought stays, and
// a server that has moved is used where it is now.
func TestV3ServersOfAReload(t *testing.T) {
	w := NewWorld(t, autoMCP)
	a := w.Start()
	a.initNotices()
	session := a.newWith(mcpServer("notes", "exit"))
	a.Prompt(session, "D:SAY hi")
	load := func(a *Agent, servers ...object) {
		t.Helper()
		with := w.LoadParams(session)
		with["mcpServers"] = servers
		a.Must("session/load", with, nil)
	}
	has := func(names ...string) {
		t.Helper()
		a.Prompt(session, "D:SAY and now?")
		for _, name := range names {
			if !slices.Contains(w.tools(), name) {
				t.Errorf("no tool %s: %v", name, w.tools())
			}
		}
	}
	load(a, mcpServer("notes", ""))
	has("notes__echo")
	b := w.Start()
	b.initNotices()
	load(b, mcpServer("second", ""))
	has("notes__echo", "second__echo")
	load(a)
	has("notes__echo", "second__echo")

	asked := len(w.Model.Requests())
	id := a.BeginPrompt(session, "D:STALL")
	waitFor(t, "the model's turn", func() bool { return len(w.Model.Requests()) > asked })
	load(b, mcpServer("third", ""))
	a.Cancel(session)
	if got := a.Response(id).StopReason(); got != "cancelled" {
		t.Errorf("the turn that ran ended with %s", got)
	}
	has("notes__echo", "second__echo", "third__echo")
	b.Quit()
	a.Quit()
}

// TestE6StartDoesNotWaitForServers: servers that never answer hold up no
// session/new, and a first prompt for a bounded time.
func TestE6StartDoesNotWaitForServers(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.initNotices()
	began := time.Now()
	session := a.newWith(mcpServer("silent", "silent"), mcpServer("deaf", "deaf"))
	if took := time.Since(began); took > 500*time.Millisecond {
		t.Errorf("session/new took %s", took)
	}
	began = time.Now()
	a.Prompt(session, "D:SAY hi")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the first prompt took %s", took)
	}
	began = time.Now()
	a.Prompt(session, "D:SAY hi")
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("the second prompt took %s", took)
	}
	if n := a.notices(session, 0); len(n) != 1 || !strings.Contains(n[0], "silent, deaf") {
		t.Errorf("notices: %v", n)
	}
	a.Quit()
}

// TestServersEndWithTheAgent: nothing of a server is left when the agent has
// ended, however it did and however deaf the server is.
func TestServersEndWithTheAgent(t *testing.T) {
	for name, end := range map[string]func(*Agent){"quit": (*Agent).Quit, "killed": (*Agent).Kill} {
		w := NewWorld(t)
		a := w.Start()
		a.initNotices()
		mark := fmt.Sprintf("mark-%s-%d", name, os.Getpid())
		server := mcpServer("deaf", "deaf")
		server["args"] = []string{mark}
		a.newWith(server)
		waitFor(t, "the server", func() bool { return hasProcess(mark) })
		end(a)
		waitFor(t, "the server's end", func() bool { return !hasProcess(mark) })
	}
}

// hasProcess reports whether a process has the argument.
func hasProcess(argument string) bool {
	list, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(list, func(name string) bool {
		line, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(line), argument)
	})
}
