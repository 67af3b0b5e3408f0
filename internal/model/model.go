// Package model is the one interface behind which every large language model
// stands: a request goes in, events stream out while the model works, and a
// whole response comes back. Providers live in the packages below it and are
// built by model/provider; this package links none of them.
package model

import (
	"context"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// Provider is one way to reach models. Implementations are safe for concurrent
// use: each call to Stream is independent.
type Provider interface {
	// Stream runs one model step. emit is called from Stream's own goroutine, in
	// order, before Stream returns; an error from it ends the step and is
	// returned as it is. When ctx ends, Stream returns within milliseconds, even
	// while the server stalls, with an error for which errors.Is(err, ctx.Err())
	// holds. Every failure but those of emit is an *Error; its Partial carries
	// what the model had said by then, as does the response beside an error.
	Stream(ctx context.Context, req *Request, emit func(Event) error) (*Response, error)
	// Info says what is known of a model, from local knowledge only.
	Info(model string) Info
	// Name is the provider's name in the configuration, for messages to people.
	Name() string
}

// Request is one model step.
type Request struct {
	// Model is the provider's id of the model; empty means its configured one.
	Model string
	// System holds the system prompt, the parts that never change first, so
	// that a provider can cache the prefix. All but the last part are taken as
	// stable across the session.
	System   []string
	Messages []Message
	Tools    []ToolSpec
	// NoToolCalls asks for words only, with Tools still declared because
	// the history refers to them.
	NoToolCalls bool
	// MaxTokens bounds the answer; 0 means the model's own limit.
	MaxTokens int
	// Thinking is how much the model should think before it answers; empty
	// means its own default.
	Thinking Level
	// CacheKey groups requests that share a prefix, usually the session id.
	CacheKey string
}

// ToolSpec declares a tool to the model.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON Schema (an object) of the tool's input.
	Schema RawJSON
}

// Level is how much a model thinks before it answers.
type Level string

// The levels, which each provider maps to what the model offers.
const (
	LevelDefault Level = ""
	LevelOff     Level = "off"
	LevelLow     Level = "low"
	LevelMedium  Level = "medium"
	LevelHigh    Level = "high"
)

// Response is a finished model step.
type Response struct {
	Message Message    // role assistant
	Stop    StopReason // why the model stopped
	Usage   Usage
	Model   string // the model that answered, as the provider names it
}

// StopReason says why a model stopped.
type StopReason string

// The stop reasons. A provider's unknown reason counts as StopEndTurn.
const (
	StopEndTurn       StopReason = "end_turn"
	StopToolUse       StopReason = "tool_use"
	StopMaxTokens     StopReason = "max_tokens"
	StopRefusal       StopReason = "refusal"
	StopContextWindow StopReason = "context_window" // the conversation filled the window
)

// Usage counts tokens of one step. Input excludes what was read from or
// written to the provider's cache; Output includes Thought.
type Usage struct {
	Input      uint64 `json:"input,omitzero"`
	Output     uint64 `json:"output,omitzero"`
	Thought    uint64 `json:"thought,omitzero"`
	CacheRead  uint64 `json:"cacheRead,omitzero"`
	CacheWrite uint64 `json:"cacheWrite,omitzero"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Thought:    u.Thought + v.Thought,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// Context is how many tokens of the window the step filled.
func (u Usage) Context() uint64 {
	return u.Input + u.CacheRead + u.CacheWrite + u.Output
}

// EventKind says what an Event carries.
type EventKind int

// The kinds of events.
const (
	TextDelta     EventKind = iota + 1 // Text: more of the answer
	ThinkingDelta                      // Text: more of the thinking
	ToolCallStart                      // CallID, Tool: a tool call begins
	ToolCallDelta                      // CallID, Tool, Text: more of its input, as JSON text
	Retrying                           // Retry: the step failed before any output and will be tried again
)

// Event is something that happened while the model worked. Text is always
// whole UTF-8 characters.
type Event struct {
	Kind   EventKind
	Text   string
	CallID string
	Tool   string
	Retry  *Retry
}

// Retry describes an attempt that failed and the one to come.
type Retry struct {
	Attempt int           // the attempt to come, from 2
	Max     int           // attempts in all
	Delay   time.Duration // wait before it
	Reason  string        // one sentence
	// Provider names the provider tried next when it is another one.
	Provider string
}

// Info is what is known of a model. Zero values mean unknown.
type Info struct {
	ContextWindow int // tokens
	MaxOutput     int // tokens
	Images, Audio bool
	Thinking      []Level
	Price         *price.Price
}

// Cost is what a usage costs.
func (u Usage) Cost(p price.Price) price.Bill {
	return p.Cost(price.Tokens{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
}
