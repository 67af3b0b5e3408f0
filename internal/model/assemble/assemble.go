// Package assemble puts the deltas of a provider's stream together into one
// message and tells them to the caller as they come.
package assemble

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// Message is an assistant message in the making. Its pieces are addressed by
// an index of the provider's choosing and keep the order in which they first
// appeared. It is for one goroutine.
type Message struct {
	emit    func(model.Event) error
	pieces  []*piece
	byIndex map[int]*piece
	stop    error // what emit returned
}

type piece struct {
	buf    strings.Builder
	joiner joiner
	call   *model.ToolCall
	think  *model.Thinking
	opaque *model.Opaque
	done   bool
}

// New returns an empty message that tells its deltas to emit.
func New(emit func(model.Event) error) *Message {
	return &Message{emit: emit, byIndex: make(map[int]*piece)}
}

// Err returns the error with which emit asked to stop, if it did.
func (m *Message) Err() error { return m.stop }

// Text appends to the text at index i.
func (m *Message) Text(i int, d Delta) {
	if d.Empty() {
		return
	}
	if s := m.at(i).add(d); s != "" {
		m.tell(model.Event{Kind: model.TextDelta, Text: s})
	}
}

// Think appends to the thinking at index i.
func (m *Message) Think(i int, d Delta) {
	if s := m.thinking(i).add(d); s != "" {
		m.tell(model.Event{Kind: model.ThinkingDelta, Text: s})
	}
}

// Sign appends to the signature of the thinking at index i.
func (m *Message) Sign(i int, s string) { m.thinking(i).think.Signature += s }

// Redact marks the thinking at index i as redacted.
func (m *Message) Redact(i int) { m.thinking(i).think.Redacted = true }

// Attach keeps a provider's own data with the piece at index i. Data that could
// not be stored, with a duplicate name or broken UTF-8, is left out.
func (m *Message) Attach(i int, o *model.Opaque) {
	p := m.at(i)
	if o.Data == nil || o.Data.IsValid() {
		p.opaque = o
	}
}

// Call begins a tool call at index i.
func (m *Message) Call(i int, id, name string) {
	p := m.at(i)
	p.call = &model.ToolCall{ID: id, Name: name}
	m.tell(model.Event{Kind: model.ToolCallStart, CallID: id, Tool: name})
}

// Input appends to the input of the tool call at index i.
func (m *Message) Input(i int, d Delta) {
	p := m.byIndex[i]
	if p == nil || p.call == nil {
		return
	}
	if s := p.add(d); s != "" {
		m.tell(model.Event{Kind: model.ToolCallDelta, CallID: p.call.ID, Tool: p.call.Name, Text: s})
	}
}

// Done marks the piece at index i as complete.
func (m *Message) Done(i int) { m.at(i).done = true }

// Has reports whether there is a piece at index i.
func (m *Message) Has(i int) bool { return m.byIndex[i] != nil }

// Len is how many bytes the piece at index i has so far.
func (m *Message) Len(i int) int {
	if p := m.byIndex[i]; p != nil {
		return p.buf.Len()
	}
	return 0
}

// Message returns the finished message.
func (m *Message) Message() model.Message { return m.build(true) }

// Partial returns what a person has seen of an unfinished message, and the
// tool calls that were complete; nil when there is nothing.
func (m *Message) Partial() *model.Response {
	msg := m.build(false)
	if len(msg.Parts) == 0 {
		return nil
	}
	return &model.Response{Message: msg}
}

func (m *Message) build(finished bool) model.Message {
	msg := model.Message{Role: model.RoleAssistant}
	for _, p := range m.pieces {
		if part, ok := p.part(finished); ok {
			msg.Parts = append(msg.Parts, part)
		}
	}
	return msg
}

func (p *piece) part(finished bool) (model.Part, bool) {
	switch {
	case p.call != nil:
		if !finished && !p.done {
			return model.Part{}, false
		}
		call := *p.call
		call.Input, call.Malformed = ToolInput(p.buf.String())
		return model.Part{ToolCall: &call, Opaque: p.opaque}, true
	case p.think != nil:
		think := *p.think
		think.Text = p.buf.String()
		keep := think.Text != "" || think.Signature != "" || p.opaque != nil
		return model.Part{Thinking: &think, Opaque: p.opaque}, keep
	default:
		return model.Part{Text: p.buf.String(), Opaque: p.opaque}, p.buf.Len() > 0
	}
}

// add appends the delta and returns the whole characters it brought.
func (p *piece) add(d Delta) string {
	s := p.joiner.join(d)
	p.buf.WriteString(s)
	return s
}

func (m *Message) at(i int) *piece {
	p := m.byIndex[i]
	if p == nil {
		p = &piece{}
		m.byIndex[i] = p
		m.pieces = append(m.pieces, p)
	}
	return p
}

func (m *Message) thinking(i int) *piece {
	p := m.at(i)
	if p.think == nil {
		p.think = &model.Thinking{}
	}
	return p
}

func (m *Message) tell(ev model.Event) {
	if m.stop == nil {
		m.stop = m.emit(ev)
	}
}

// ToolInput turns what a model wrote as a tool's input into a JSON object.
// Nothing at all counts as the empty object; anything else that is not an
// object is returned as malformed beside an empty object.
func ToolInput(s string) (input jsontext.Value, malformed string) {
	empty := jsontext.Value("{}")
	if strings.TrimSpace(s) == "" {
		return empty, ""
	}
	v := jsontext.Value(s)
	if !v.IsValid() || v.Kind() != '{' || v.Compact() != nil {
		return empty, s
	}
	return v, ""
}
