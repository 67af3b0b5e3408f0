// Package state reduces the events of one session to what is true of it now.
// A State changes by Apply alone, live and restored alike, so that a snapshot
// with the events after it is the same as having been there.
package state

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Bounds on what a State keeps, so that its snapshot stays small whatever a
// driver sends.
const (
	maxKeys     = 256      // idempotency keys of ended turns
	maxFinished = 2048     // ids of finished tool calls told apart
	maxOpen     = 1024     // tool calls open at once
	maxRaw      = 64 << 10 // bytes of a plan, command list or config kept as it came
	maxText     = 4 << 10  // bytes of an id or title
)

// State is what the events of a session add up to. It is a value of one
// goroutine; Clone makes another.
type State struct {
	Seq   session.Seq `json:"seq"`   // of the last event applied
	Epoch uint64      `json:"epoch"` // the newest opening of the driver

	Turn    *Turn       `json:"turn,omitzero"` // nil when idle
	Queue   []Queued    `json:"queue,omitzero"`
	LastEnd session.Seq `json:"lastEnd,omitzero"` // of the last turn_end with no turn running

	Calls    []Call      `json:"calls,omitzero"`    // open tool calls, in order of their start
	Finished Finished    `json:"finished,omitzero"` // tool call ids that may not come again
	Requests []Requested `json:"requests,omitzero"` // open requests to people

	Title       string            `json:"title,omitzero"`
	LastMessage string            `json:"lastMessage,omitzero"` // message id of the agent's newest message
	LastThought string            `json:"lastThought,omitzero"`
	Config      map[string]string `json:"config,omitzero"` // options chosen, by id

	// The newest update object of its kind, as it came.
	Plan     jsontext.Value `json:"plan,omitzero"`
	Usage    jsontext.Value `json:"usage,omitzero"`
	Options  jsontext.Value `json:"options,omitzero"`
	Mode     jsontext.Value `json:"mode,omitzero"`
	Commands jsontext.Value `json:"commands,omitzero"`

	Keys []Key `json:"keys,omitzero"` // oldest first
}

// Turn is the one that runs.
type Turn struct {
	ID    string      `json:"id"`
	Key   string      `json:"key,omitzero"`
	By    string      `json:"by,omitzero"`
	Start session.Seq `json:"start"`
}

// Queued is a prompt that waits. Its content stays in the event at Seq.
type Queued struct {
	Turn string      `json:"turn"`
	Key  string      `json:"key,omitzero"`
	By   string      `json:"by,omitzero"`
	Seq  session.Seq `json:"seq"`
}

// Call is an open tool call.
type Call struct {
	ID    string      `json:"id"`
	Start session.Seq `json:"start"`
	Turn  string      `json:"turn,omitzero"`
}

// Requested is an open request to people.
type Requested struct {
	ID   string       `json:"id"`
	Seq  session.Seq  `json:"seq"`
	Kind session.Kind `json:"kind"`
	Turn string       `json:"turn,omitzero"`
}

// Key is a prompt's idempotency key and what became of its turn.
type Key struct {
	Key  string           `json:"key"`
	Turn string           `json:"turn"`
	End  *session.TurnEnd `json:"end,omitzero"` // nil while it waits or runs
}

// Phase says what a session is doing.
type Phase string

// The phases.
const (
	Idle           Phase = "idle"
	Running        Phase = "running"
	RequiresAction Phase = "requires_action"
)

// Phase derives the session's phase.
func (s *State) Phase() Phase {
	switch {
	case s.Turn == nil:
		return Idle
	case len(s.Requests) > 0:
		return RequiresAction
	}
	return Running
}

// Key finds what became of a prompt.
func (s *State) Key(key string) (Key, bool) {
	if key == "" {
		return Key{}, false
	}
	i := slices.IndexFunc(s.Keys, func(k Key) bool { return k.Key == key })
	if i < 0 {
		return Key{}, false
	}
	return s.Keys[i], true
}

// Open reports whether a tool call is open.
func (s *State) Open(call string) bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.ID == call })
}

// Clone copies the State; raw JSON, which is never changed in place, is shared.
func (s *State) Clone() *State {
	c := *s
	if s.Turn != nil {
		t := *s.Turn
		c.Turn = &t
	}
	c.Queue = slices.Clone(s.Queue)
	c.Calls = slices.Clone(s.Calls)
	c.Requests = slices.Clone(s.Requests)
	c.Keys = slices.Clone(s.Keys)
	c.Config = maps.Clone(s.Config)
	c.Finished = s.Finished.clone()
	return &c
}
