package session

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Info is what is known of a session beside its events.
type Info struct {
	ID        string
	Owner     string // principal; "local" on stdio
	Key       string // a name given by a caller, unique per owner; may be empty
	Label     string
	Agent     string   // alias
	Cwd       string   // absolute
	Roots     []string // additional directories, absolute
	Title     string
	TitleSet  bool // a person chose the title; it is not overwritten
	Archived  bool
	Parent    string         // session id of the parent, for forks and subagents
	Subagent  bool           // it works for its parent, and goes with it
	Foreign   string         // the harness's own session id
	Grants    jsontext.Value // what was allowed for the whole session; the driver's own bytes
	Shares    []Share        // with others than the owner, sorted by owner
	CreatedAt time.Time
	UpdatedAt time.Time // of the last prompt or rename; loading changes nothing
	LastSeq   Seq
	Active    bool // an instance owns it now
}

// InfoChange is a patch of Info; nil fields stay as they are.
type InfoChange struct {
	Key, Label, Agent, Cwd, Title, Foreign *string
	TitleSet, Archived                     *bool
	Roots                                  *[]string
	Grants                                 *jsontext.Value
	Shares                                 []ShareChange // applied in their order
	UpdatedAt                              *time.Time
}

// Apply patches info.
func (c InfoChange) Apply(info *Info) {
	set(&info.Key, c.Key)
	set(&info.Label, c.Label)
	set(&info.Agent, c.Agent)
	set(&info.Cwd, c.Cwd)
	set(&info.Title, c.Title)
	set(&info.Foreign, c.Foreign)
	set(&info.TitleSet, c.TitleSet)
	set(&info.Archived, c.Archived)
	set(&info.Roots, c.Roots)
	set(&info.Grants, c.Grants)
	info.Shares = applyShares(info.Shares, c.Shares)
	set(&info.UpdatedAt, c.UpdatedAt)
}

// Merge lays a later patch over c.
func (c *InfoChange) Merge(later InfoChange) {
	over(&c.Key, later.Key)
	over(&c.Label, later.Label)
	over(&c.Agent, later.Agent)
	over(&c.Cwd, later.Cwd)
	over(&c.Title, later.Title)
	over(&c.Foreign, later.Foreign)
	over(&c.TitleSet, later.TitleSet)
	over(&c.Archived, later.Archived)
	over(&c.Roots, later.Roots)
	over(&c.Grants, later.Grants)
	c.Shares = append(c.Shares[:len(c.Shares):len(c.Shares)], later.Shares...)
	over(&c.UpdatedAt, later.UpdatedAt)
}

func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

func over[T any](dst **T, src *T) {
	if src != nil {
		*dst = src
	}
}

// Fence is the right to append to a session: it grows with each acquisition,
// and an append with an older one fails with ErrFenced.
type Fence uint64

// Doc is a message folded for search: the whole text of one message id.
type Doc struct {
	Seq  Seq    // of its first chunk
	Role string // "user" or "assistant"
	Text string
}

// Batch is what one append commits, all or nothing.
type Batch struct {
	Events   []Event // Seq is assigned by the append
	Snapshot []byte  // the State after the last event; nil to leave the stored one
	Docs     []Doc
	Change   *InfoChange
	Durable  bool // flush to disk before returning: a turn's end
}

// Filter selects sessions. Zero fields select everything but archived sessions
// and those of subagents.
type Filter struct {
	Owner    string
	Shared   bool // with Owner: the sessions shared with them too
	Agent    string
	Agents   []string // any of these; empty means all
	Cwd      string   // exact
	Key      string
	Label    string
	Parent   string
	Archived Archived
	// Subagents includes the sessions of subagents, which are left out otherwise
	// unless Parent asks for them.
	Subagents bool
}

// Archived says whether archived sessions are listed.
type Archived uint8

// The archive filters.
const (
	ExcludeArchived Archived = iota
	IncludeArchived
	OnlyArchived
)

// Hit is one search result.
type Hit struct {
	Info    Info
	Seq     Seq
	Role    string
	Snippet string // the passage, matches between « and »
}

// Ledger stores sessions. All methods are safe for concurrent use. An event is
// shown to anyone only after Append has returned. Errors are ErrNotFound,
// ErrFenced, *ActiveElsewhereError, ErrReadOnly or the store's own.
type Ledger interface {
	// Create stores a new session; the caller owns it from then on. A key that
	// names another of the owner's sessions is a *KeyTakenError.
	Create(ctx context.Context, info Info) (Fence, error)
	Info(ctx context.Context, id string) (Info, error)
	// Update patches a session's Info. fence 0 is allowed for a session that is
	// not active anywhere or is active in this instance.
	Update(ctx context.Context, id string, fence Fence, change InfoChange) error
	// Reset is Create, and takes info.Key and the label from the session old in
	// the same step; old keeps everything else, wherever it is active. When old
	// has not, or not any more, that key or none, it is a *KeyTakenError.
	Reset(ctx context.Context, old string, info Info) (Fence, error)
	// Delete removes a session with all its events; deleting none is no error.
	Delete(ctx context.Context, id string) error
	// List returns a page, newest UpdatedAt first, and the cursor of the next
	// page, "" at the end. A cursor it did not make is ErrBadCursor.
	List(ctx context.Context, f Filter, cursor string, limit int) ([]Info, string, error)
	// Search finds messages, best first.
	Search(ctx context.Context, text string, f Filter, limit int) ([]Hit, error)

	// Append commits a batch under a fence and returns the last Seq. The
	// session's events in b get consecutive numbers in order. b.Events is the
	// caller's again afterwards; the bodies are not.
	Append(ctx context.Context, id string, fence Fence, b Batch) (Seq, error)
	// Read returns up to limit events after seq, in order; none at the end.
	// No lock or cursor is held after it returns; the slice is the caller's, the
	// bodies are shared.
	Read(ctx context.Context, id string, after Seq, limit int) ([]Event, error)
	// Snapshot returns the newest stored State and the Seq it stands at; nil, 0
	// when there is none.
	Snapshot(ctx context.Context, id string) ([]byte, Seq, error)

	// Acquire makes this instance the session's owner, taking over from a dead
	// one. It fails with *ActiveElsewhereError while another is alive.
	Acquire(ctx context.Context, id string) (Fence, error)
	// Release gives the session up; a stale fence is no error.
	Release(ctx context.Context, id string, fence Fence) error
	Close() error
}
