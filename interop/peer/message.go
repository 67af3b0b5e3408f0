package peer

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is a JSON-RPC message of the agent as it came.
type Message struct {
	N       int            `json:"-"` // its place among all messages of the agent
	Line    []byte         `json:"-"` // the line it came in, without the end
	Version jsontext.Value `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Err     jsontext.Value `json:"error,omitzero"`
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

func parse(line []byte) (Message, error) {
	m := Message{Line: line}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("a line of the agent is not a JSON-RPC message: %w", err)
	}
	return m, m.check()
}

// check holds the envelope against JSON-RPC 2.0.
func (m Message) check() error {
	if string(m.Version) != `"2.0"` {
		return fmt.Errorf("jsonrpc is %s, not \"2.0\"", m.Version)
	}
	if m.Method != "" {
		if m.Result != nil || m.Err != nil {
			return fmt.Errorf("a %s message has a result or an error", m.Method)
		}
		return nil
	}
	if m.ID == nil || (m.Result == nil) == (m.Err == nil) {
		return fmt.Errorf("a response needs an id and one of result and error")
	}
	return nil
}

// IsRequest reports whether the agent asks for something.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsResponse reports whether the agent answers something.
func (m Message) IsResponse() bool { return m.Method == "" }

// Failure returns the error of a response, or nil.
func (m Message) Failure() *Error {
	if m.Err == nil {
		return nil
	}
	e := &Error{}
	if err := json.Unmarshal(m.Err, e); err != nil {
		e.Message = "not an error object: " + string(m.Err)
	}
	return e
}

// Update is what tests look at in a session/update.
type Update struct {
	SessionID string
	Kind      string
	Body      jsontext.Value // the update itself
}

// Update reads m as a session/update; ok is false when it is none.
func (m Message) Update() (u Update, ok bool) {
	if m.Method != "session/update" || m.ID != nil {
		return u, false
	}
	var p struct {
		SessionID string         `json:"sessionId"`
		Update    jsontext.Value `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(m.Params, &p) != nil || json.Unmarshal(p.Update, &kind) != nil {
		return u, false
	}
	return Update{p.SessionID, kind.Kind, p.Update}, true
}

// Text is the text of a message or thought chunk.
func (u Update) Text() string {
	var chunk struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	_ = json.Unmarshal(u.Body, &chunk)
	return chunk.Content.Text
}
