package model

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// RawJSON is one JSON value as it came.
type RawJSON = jsontext.Value

// Role says whose words a message holds.
type Role string

// The roles. Tool results travel in user messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one message of a conversation. It marshals to JSON and back
// without loss, for storing.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is a piece of a message: the one pointer that is set, else Text.
type Part struct {
	Text       string      `json:"text,omitzero"`
	Image      *Media      `json:"image,omitzero"`
	Audio      *Media      `json:"audio,omitzero"`
	ToolCall   *ToolCall   `json:"toolCall,omitzero"`
	ToolResult *ToolResult `json:"toolResult,omitzero"`
	Thinking   *Thinking   `json:"thinking,omitzero"`
	// Opaque is what the provider that made the part must get back exactly
	// with it, such as ids and encrypted reasoning. Others ignore it.
	Opaque *Opaque `json:"opaque,omitzero"`
}

// Media is an image or a sound.
type Media struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// ToolCall is the model's wish to use a tool.
type ToolCall struct {
	// ID pairs the call with its result. It is unique within a message, but a
	// provider may use the same one again in a later message.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Input is a JSON object, always valid.
	Input RawJSON `json:"input"`
	// Malformed is what the model wrote when that was not a JSON object; Input
	// is then {}, and the call should be answered with an error.
	Malformed string `json:"malformed,omitzero"`
}

// ToolResult answers a ToolCall.
type ToolResult struct {
	CallID  string `json:"callId"`
	Parts   []Part `json:"parts"` // text and images
	IsError bool   `json:"isError,omitzero"`
}

// Thinking is what a model thought before it answered. Redacted thinking has
// no text, only an Opaque on its part.
type Thinking struct {
	Text      string `json:"text,omitzero"`
	Signature string `json:"signature,omitzero"`
	Redacted  bool   `json:"redacted,omitzero"`
}

// Opaque is a provider's own data on a part.
type Opaque struct {
	Wire string  `json:"wire"` // the protocol it belongs to, such as "anthropic"
	Data RawJSON `json:"data,omitzero"`
}

// Text returns a text part.
func Text(s string) Part { return Part{Text: s} }

// UserText returns a user message of one text.
func UserText(s string) Message {
	return Message{Role: RoleUser, Parts: []Part{Text(s)}}
}

// IsText reports whether the part is text.
func (p Part) IsText() bool {
	return p.Image == nil && p.Audio == nil && p.ToolCall == nil && p.ToolResult == nil && p.Thinking == nil
}

// Text joins the text parts of the message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.IsText() {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// ToolCalls returns the tool calls of the message in order.
func (m Message) ToolCalls() []*ToolCall {
	var calls []*ToolCall
	for _, p := range m.Parts {
		if p.ToolCall != nil {
			calls = append(calls, p.ToolCall)
		}
	}
	return calls
}
