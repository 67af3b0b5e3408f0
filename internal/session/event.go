package session

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Seq numbers the events of one session from 1 without gaps. 0 is "before the
// first".
type Seq uint64

// Kind says what an event is. Kinds that came as a session/update carry the
// update's own discriminator ("agent_message_chunk"); the rest are named here.
type Kind string

// Kinds with a meaning to the hub besides those of session/update.
const (
	KindUserMessage   Kind = "user_message_chunk"
	KindAgentMessage  Kind = "agent_message_chunk"
	KindAgentThought  Kind = "agent_thought_chunk"
	KindToolCall      Kind = "tool_call"
	KindToolUpdate    Kind = "tool_call_update"
	KindPlan          Kind = "plan"
	KindCommands      Kind = "available_commands_update"
	KindMode          Kind = "current_mode_update"
	KindConfig        Kind = "config_option_update"
	KindInfo          Kind = "session_info_update"
	KindUsage         Kind = "usage_update"
	KindNotice        Kind = "notice"
	KindCompaction    Kind = "compaction_update"
	KindCompactChunk  Kind = "compaction_summary_chunk"
	KindTurnStart     Kind = "turn_start"     // body TurnStart
	KindTurnEnd       Kind = "turn_end"       // body TurnEnd
	KindPermission    Kind = "permission"     // body: params of session/request_permission
	KindElicitation   Kind = "elicitation"    // body: params of elicitation/create
	KindVerdict       Kind = "verdict"        // body Verdict
	KindQueued        Kind = "queued_prompt"  // private; body QueuedPrompt
	KindCustom        Kind = "custom"         // what a client sent as session/update
	KindEpoch         Kind = "epoch"          // private; a driver was opened
	KindSet           Kind = "set"            // private; body SetOption
	KindDriverPrivate Kind = "driver_private" // private; the driver's own versioned bytes
)

// Retention says who sees an event, and when.
type Retention uint8

const (
	// History is shown live, to a client that catches up, and on load.
	History Retention = iota
	// Live is shown live and to a client that catches up, but not on load.
	Live
	// Private is the hub's or a driver's own: never shown, searched or exported.
	Private
)

// Origin says who produced an event.
type Origin uint8

// The origins.
const (
	FromDriver Origin = iota
	FromClient
	FromHub
)

// Event is one thing that happened in a session. Its body is the whole params
// object as its origin produced it; Marks say where in it a hop may splice.
// Events are immutable once committed and may be shared between goroutines.
type Event struct {
	Seq       Seq    // set at commit
	ID        string // "e_…", set at ingest
	Time      time.Time
	Turn      string // "t_…"; empty outside a turn
	Epoch     uint64 // which opening of the driver produced it
	Kind      Kind
	Retention Retention
	Origin    Origin
	By        string // attachment that caused it, if one did
	Version   uint8  // protocol version of the body; 0 for the hub's own bodies
	Marks     Marks
	Body      jsontext.Value
}

// Span is a byte range [From, To) of a body; the zero Span marks nothing.
type Span struct{ From, To uint32 }

// IsZero reports whether the span marks nothing.
func (s Span) IsZero() bool { return s.To == 0 }

// Marks are the places of a body that may differ per hop, recorded at ingest so
// that forwarding never decodes: the JSON values, quotes and braces included.
type Marks struct {
	SessionID  Span
	Meta       Span // the params' own _meta object
	ToolCallID Span
	MessageID  Span
}

// TurnStart is the body of a turn_start event.
type TurnStart struct {
	Turn string `json:"turn"`
	Key  string `json:"key,omitzero"` // idempotency key of the prompt
}

// StopReason says why a turn ended; the values are ACP's (StopReason, v1), or
// "" when it failed and Error says how.
type StopReason string

// The stop reasons of ACP v1.
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// Failure is why a turn failed: the JSON-RPC error its prompt is answered with.
type Failure struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// TurnEnd is the body of a turn_end event, and what a driver returns. Exactly
// one is committed per turn.
type TurnEnd struct {
	Turn   string         `json:"turn"`
	Stop   StopReason     `json:"stop,omitzero"`
	Error  *Failure       `json:"error,omitzero"`
	Usage  jsontext.Value `json:"usage,omitzero"`  // ACP Usage, cumulative (v1)
	Reason string         `json:"reason,omitzero"` // "interrupted", "drained", … when the hub ended it
}

// SetOption is the private body of a config option that was chosen.
type SetOption struct {
	Option string `json:"option"`
	Value  string `json:"value"`
}

// QueuedPrompt is the private body of a prompt that waits for its turn.
type QueuedPrompt struct {
	Turn    string           `json:"turn"`
	Key     string           `json:"key,omitzero"`
	By      string           `json:"by,omitzero"`
	Content []jsontext.Value `json:"content"`
}
