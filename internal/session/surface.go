package session

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Role is what an attachment may do; each includes the ones before it.
type Role uint8

// The roles.
const (
	Observer Role = iota
	Prompter
	Approver
)

// roleNames are the roles as people and clients write them.
var roleNames = [...]string{Observer: "observer", Prompter: "prompter", Approver: "approver"}

// String is the role's name.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// ParseRole reads a role's name. Its error is an *InvalidError.
func ParseRole(name string) (Role, error) {
	for i, n := range roleNames {
		if n == name {
			return Role(i), nil
		}
	}
	return 0, Invalidf("a role is observer, prompter or approver, not %q", name)
}

// Replay says what an attachment sees of the past.
type Replay uint8

const (
	// ReplayNone starts at the end (session/resume, session/new).
	ReplayNone Replay = iota
	// ReplayHistory starts at the beginning with history events only, up to the
	// end at the time of attaching; from there on everything (session/load).
	ReplayHistory
	// ReplayAfter gives everything after a known Seq (a reconnecting client).
	ReplayAfter
)

// AttachRequest is how a client joins a session.
type AttachRequest struct {
	Owner  string
	Role   Role
	Replay Replay
	After  Seq // for ReplayAfter
	Hands  Hands
	// Answers lists the request kinds this client can answer
	// (KindPermission, KindElicitation).
	Answers []Kind
	// Cwd, when not empty, must be the session's own, or the session is moved
	// there (load and resume carry one).
	Cwd     string
	Roots   []string
	Servers []jsontext.Value
}

// PromptRequest is one prompt from a client.
type PromptRequest struct {
	Content []jsontext.Value // ACP ContentBlock, checked by the surface
	Key     string           // idempotency key; empty for none
	// Provenance is where the prompt comes from, as its bridge says: an object
	// that is kept and shown with the message. nil for none.
	Provenance jsontext.Value
	// Exclusive refuses the prompt with ErrBusy while a turn runs, whatever
	// the configuration does with it.
	Exclusive bool
}

// Prompted says what became of a prompt. The answer itself is the turn's
// turn_end event, met by the attachment's cursor.
type Prompted struct {
	Turn   string
	Queued bool
	// Repeat is set when the prompt's key was known: the turn is another
	// prompt's too.
	Repeat bool
	// Ended is set when the prompt was a repeat of a turn already over.
	Ended *TurnEnd
}

// Steered is the outcome of steering (_session/steering).
type Steered string

// The outcomes of steering.
const (
	Injected       Steered = "injected"
	StartedNewTurn Steered = "startedNewTurn"
	SteerFailed    Steered = "failed"
)

// Request is an open request to people.
type Request struct {
	ID      string // event id
	Seq     Seq
	Kind    Kind
	Turn    string
	Body    jsontext.Value
	Options []string // permission: the option ids offered
	Expires time.Time
}

// States of a session, as lists show them.
const (
	StateParked         = "parked" // nobody runs it
	StateIdle           = "idle"
	StateRunning        = "running"
	StateRequiresAction = "requires_action" // it waits for an answer of a person
	StateElsewhere      = "active"          // another process runs it
)

// State sums the status up.
func (s Status) State() string {
	switch {
	case s.Waiting:
		return StateRequiresAction
	case s.Running:
		return StateRunning
	}
	return StateIdle
}

// Status is what session/status reports.
type Status struct {
	Active  bool
	Running bool
	Waiting bool // for an answer of a person
	Turn    string
	Queued  int // prompts that wait for the turn
}

// Attachment is one client's place in a session: a cursor on its ledger, not a
// queue. Next is for one goroutine (the pump); the rest may be called from any.
type Attachment interface {
	ID() string
	Info() Info
	Role() Role // what it may do at most
	Setup() Setup
	// Start is the last Seq committed when it attached. Replay is over once
	// the cursor has passed it.
	Start() Seq
	// Next blocks until there is something after the cursor and returns it, in
	// order, skipping what this attachment does not get (private events, its
	// own user messages, on load what is not history, requests settled since).
	// cursor is where it stands now, also when events is empty because all of a
	// page was skipped. io.EOF after the session was closed or deleted.
	//
	// Events with Seq 0 are not in the ledger and must be shown without a
	// number: when the store fails, a notice and the turn_end that answers the
	// prompt. The events are shared: do not change them.
	Next(ctx context.Context) (events []Event, cursor Seq, err error)
	// Open lists the requests still open at Start; a surface offers them to a
	// client that attaches late.
	Open() []Request

	Prompt(ctx context.Context, req PromptRequest) (Prompted, error)
	// Steer adds to the running turn, or starts one.
	Steer(ctx context.Context, content []jsontext.Value) (Steered, string, error)
	// Cancel cancels the running turn and every queued prompt. Idle: nothing.
	Cancel(ctx context.Context) error
	// CancelTurn cancels one turn, running or queued; the others go on. One that
	// is over or unknown: nothing.
	CancelTurn(ctx context.Context, turn string) error
	// Answer settles a request; an answer to one that is closed, or was not
	// offered to this attachment's kind, is dropped and returns false.
	Answer(ctx context.Context, v Verdict) (bool, error)
	Set(ctx context.Context, option, value string) (Setup, error)
	// Record keeps what a client sent as its own session/update.
	Record(ctx context.Context, body jsontext.Value) error
	Detach()
}
