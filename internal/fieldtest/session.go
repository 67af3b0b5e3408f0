package fieldtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object in the making.
type object = map[string]any

// Init shakes hands, offering what the field's editors offer.
func (l *Link) Init() {
	l.t.Helper()
	l.Must("initialize", object{
		"protocolVersion":    1,
		"clientCapabilities": object{"fs": object{}},
		"clientInfo":         object{"name": "field", "version": "0"},
	}, nil)
}

// New opens a session in the world's directory.
func (l *Link) New() string {
	l.t.Helper()
	var r struct {
		SessionID string `json:"sessionId"`
	}
	l.Must("session/new", object{"cwd": l.w.Cwd, "mcpServers": []any{}}, &r)
	return r.SessionID
}

// Opened is Start, Init and New.
func (w *World) Opened(args ...string) (*Agent, string) {
	w.T.Helper()
	a := w.Start(args...)
	a.Init()
	return a, a.New()
}

// PromptParams are the params of a text prompt.
func PromptParams(session, text string) object {
	return object{"sessionId": session, "prompt": []object{{"type": "text", "text": text}}}
}

// BeginPrompt starts a turn and returns the request's id.
func (l *Link) BeginPrompt(session, text string) string {
	l.t.Helper()
	return l.Begin("session/prompt", PromptParams(session, text))
}

// Prompt runs a turn and returns its answer.
func (l *Link) Prompt(session, text string) Message {
	l.t.Helper()
	return l.Response(l.BeginPrompt(session, text))
}

// StopReason returns the stop reason of a prompt's answer, or its error.
func (m Message) StopReason() string {
	if m.Error != nil {
		return fmt.Sprintf("error %d: %s", m.Error.Code, m.Error.Message)
	}
	var r struct {
		StopReason string `json:"stopReason"`
	}
	_ = json.Unmarshal(m.Result, &r) // a result without one has none
	return r.StopReason
}

// Cancel sends session/cancel.
func (l *Link) Cancel(session string) {
	l.t.Helper()
	l.Send(Notification("session/cancel", object{"sessionId": session}))
}

// LoadParams are the params of load and resume.
func (w *World) LoadParams(session string) object {
	return object{"sessionId": session, "cwd": w.Cwd, "mcpServers": []any{}}
}

// Update is one session/update.
type Update struct {
	Session string
	Kind    string
	Text    string // of message chunks
	Message string // messageId
	Call    string // toolCallId
	Status  string
	Title   string
	Tool    string // kind of a tool call
	Raw     map[string]json.RawMessage
	Line    int
}

// Updates returns the updates of a session, from a line on.
func (l *Link) Updates(session string, from int) []Update {
	var list []Update
	for _, m := range l.Messages()[from:] {
		if u, ok := m.Update(); ok && u.Session == session {
			list = append(list, u)
		}
	}
	return list
}

// Update reads a session/update.
func (m Message) Update() (Update, bool) {
	if m.Method != "session/update" {
		return Update{}, false
	}
	var p struct {
		SessionID string                     `json:"sessionId"`
		Update    map[string]json.RawMessage `json:"update"`
	}
	_ = json.Unmarshal(m.Params, &p) // what is missing stays empty
	u := Update{Session: p.SessionID, Raw: p.Update, Line: m.Line}
	for name, into := range map[string]*string{
		"sessionUpdate": &u.Kind, "messageId": &u.Message, "toolCallId": &u.Call,
		"status": &u.Status, "title": &u.Title, "kind": &u.Tool,
	} {
		_ = json.Unmarshal(p.Update[name], into)
	}
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(p.Update["content"], &content) // tool calls have a list here
	u.Text = content.Text
	return u, true
}

// Said joins the agent's message text of a session, from a line on.
func (l *Link) Said(session string, from int) string {
	var b strings.Builder
	for _, u := range l.Updates(session, from) {
		if u.Kind == "agent_message_chunk" {
			b.WriteString(u.Text)
		}
	}
	return b.String()
}

// AwaitUpdate waits for an update of the session that match accepts.
func (l *Link) AwaitUpdate(session string, from int, what string, match func(Update) bool) Update {
	l.t.Helper()
	m := l.Await(from, what, func(m Message) bool {
		u, ok := m.Update()
		return ok && u.Session == session && match(u)
	})
	u, _ := m.Update()
	return u
}

// AwaitRunning waits until a tool call runs and returns its id.
func (l *Link) AwaitRunning(session string, from int) string {
	l.t.Helper()
	return l.AwaitUpdate(session, from, "a running tool call", func(u Update) bool { return u.Status == "in_progress" }).Call
}

// AwaitPermission waits for a permission request, from a line on.
func (l *Link) AwaitPermission(from int) Permission {
	l.t.Helper()
	m := l.Await(from, "a permission request", func(m Message) bool { return m.Method == "session/request_permission" })
	var p Permission
	if err := json.Unmarshal(m.Params, &p); err != nil {
		l.t.Fatal(err)
	}
	p.ID, p.Line = string(m.ID), m.Line
	return p
}

// Permission is a permission request.
type Permission struct {
	ID        string `json:"-"` // literal
	Line      int    `json:"-"`
	SessionID string `json:"sessionId"`
	ToolCall  struct {
		ID       string          `json:"toolCallId"`
		Title    string          `json:"title"`
		RawInput json.RawMessage `json:"rawInput"`
		Content  json.RawMessage `json:"content"`
	} `json:"toolCall"`
	Options []struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"options"`
}

// Option returns the id of the option of a kind, "" if it is not offered.
func (p Permission) Option(kind string) string {
	for _, o := range p.Options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

// Choose answers a permission request with the option of a kind.
func (l *Link) Choose(p Permission, kind string) {
	l.t.Helper()
	l.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": p.Option(kind)}})
}

// Answer answers a request of the agent's with a result.
func (l *Link) Answer(p Permission, result any) {
	l.t.Helper()
	l.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, p.ID, encode(result)))
}

// OpenCalls returns the tool calls of a session that were announced and have no
// terminal status, and those updated without having been announced.
func (l *Link) OpenCalls(session string, from int) (open, unannounced []string) {
	status := make(map[string]string)
	for _, u := range l.Updates(session, from) {
		switch u.Kind {
		case "tool_call":
			status[u.Call] = u.Status
		case "tool_call_update":
			if _, ok := status[u.Call]; !ok {
				unannounced = append(unannounced, u.Call)
			}
			if u.Status != "" {
				status[u.Call] = u.Status
			}
		}
	}
	for id, s := range status {
		if s != "completed" && s != "failed" {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	return open, unannounced
}
