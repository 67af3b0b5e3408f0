package fieldtest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDialect is a client of the ZeroClaw dialect: no params, string prompts,
// its own codes and a smaller set of updates.
func TestDialect(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	if m := a.Response("1"); !strings.Contains(string(m.Result), `"protocolVersion":1,`) {
		t.Errorf("initialize: %s %+v", m.Result, m.Error)
	}
	a.Send(`{"jsonrpc":"2.0","id":2,"method":"session/new"}`)
	var opened struct {
		SessionID    string `json:"sessionId"`
		WorkspaceDir string `json:"workspaceDir"`
	}
	if err := json.Unmarshal(a.Response("2").Result, &opened); err != nil || opened.WorkspaceDir == "" {
		t.Fatalf("session/new: %v %+v", err, opened)
	}
	s := opened.SessionID
	m := a.Call("session/prompt", object{"session_id": s, "prompt": "D:THINK hm ; D:SAY some words"})
	var r struct {
		StopReason, SessionID, Content string
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Content != "some words" || r.SessionID != s {
		t.Errorf("prompt: %s %+v", m.Result, m.Error)
	}
	a.Call("session/prompt", object{"sessionId": s, "prompt": []object{{"text": "D:TOOL list_dir {}"}}})
	for _, u := range a.Updates(s, 0) {
		switch u.Kind {
		case "agent_message_chunk", "agent_thought_chunk", "tool_call":
		case "tool_call_update":
			if u.Status != "completed" && u.Status != "failed" {
				t.Errorf("a dialect client was sent progress: %+v", u)
			}
		default:
			t.Errorf("a dialect client was sent %s", u.Kind)
		}
		if u.Kind == "tool_call" && u.Tool != "other" {
			t.Errorf("a search is shown as %q", u.Tool)
		}
	}

	id := a.Begin("session/prompt", object{"sessionId": s, "prompt": "D:SAY part ; D:STALL"})
	a.AwaitUpdate(s, m.Line, "the part", func(u Update) bool { return u.Text == "part" })
	if busy := a.Call("session/prompt", object{"sessionId": s, "prompt": "D:SAY x"}); busy.Error == nil || busy.Error.Code != -32002 {
		t.Errorf("a second prompt: %s %+v", busy.Result, busy.Error)
	}
	if m := a.Call("session/cancel", object{"sessionId": s}); string(m.Result) != "{}" {
		t.Errorf("cancel as a request: %s %+v", m.Result, m.Error)
	}
	if err := json.Unmarshal(a.Response(id).Result, &r); err != nil || r.StopReason != "cancelled" || r.Content != "part\n\n[turn cancelled via client]" {
		t.Errorf("the cancelled turn: %+v", r)
	}

	from := a.Lines()
	id = a.Begin("session/prompt", object{"sessionId": s, "prompt": "D:TOOL write x.txt y"})
	p := a.AwaitPermission(from)
	if !strings.HasPrefix(p.ID, `"zc-out-`) || !strings.Contains(string(p.ToolCall.RawInput), `"tool":"file_write"`) {
		t.Errorf("the request is %s with %s", p.ID, p.ToolCall.RawInput)
	}
	a.Choose(p, "reject_once")
	a.Response(id)

	if m := a.Call("session/load", object{"sessionId": s}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("load of an active session: %s %+v", m.Result, m.Error)
	}
	if m := a.Call("session/update", object{"sessionId": s, "type": "note"}); !strings.Contains(string(m.Result), `"processed"`) {
		t.Errorf("session/update: %s %+v", m.Result, m.Error)
	}
	if m := a.Call("session/stop", object{"sessionId": s}); !strings.Contains(string(m.Result), `"stopped":true`) {
		t.Errorf("stop: %s %+v", m.Result, m.Error)
	}
	for _, method := range []string{"session/close", "session/prompt"} {
		if m := a.Call(method, object{"sessionId": s, "prompt": "x"}); m.Error == nil || m.Error.Code != -32000 {
			t.Errorf("%s of a stopped session: %s %+v", method, m.Result, m.Error)
		}
	}
	from = a.Lines()
	l := a.Call("session/load", object{"sessionId": s})
	if l.Error != nil || string(l.Result) != "{}" {
		t.Errorf("load: %s %+v", l.Result, l.Error)
	}
	if !hasUpdate(a.Updates(s, from), func(u Update) bool { return u.Kind == "user_message_chunk" && u.Line < l.Line }) {
		t.Error("load replayed no user message")
	}
}
