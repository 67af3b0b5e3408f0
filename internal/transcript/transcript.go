// Package transcript turns the events of a session into the conversation people
// read: messages whole, tool calls with how they ended, turns that failed. It
// writes it as text, as Markdown, or event by event as JSON lines.
package transcript

import (
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Role says what an entry is.
type Role string

// The roles.
const (
	User    Role = "user"
	Agent   Role = "agent"
	Thought Role = "thought"
	Tool    Role = "tool"
	Plan    Role = "plan"
	Notice  Role = "notice" // a turn that failed, a compaction, a remark
)

// Entry is one part of a conversation.
type Entry struct {
	Role Role        `json:"role"`
	Seq  session.Seq `json:"seq"` // of its first event
	Time time.Time   `json:"time"`
	Text string      `json:"text,omitzero"` // of a tool call: its title
	// The rest is of tool calls.
	Call   string `json:"toolCallId,omitzero"`
	Kind   string `json:"kind,omitzero"`   // "read", "edit", "execute", …
	Status string `json:"status,omitzero"` // the last one: "completed", "failed", …
	Output string `json:"output,omitzero"`
}

// Fold gathers the events of one session, in order. The zero Fold is empty. It
// is for one goroutine.
type Fold struct {
	entries []*entry
	byID    map[string]*entry // messages, tool calls, the plan
}

// entry is an Entry that still grows.
type entry struct {
	Entry
	text strings.Builder
}

// Entries returns the conversation so far.
func (f *Fold) Entries() []Entry {
	out := make([]Entry, 0, len(f.entries))
	for _, e := range f.entries {
		if e.text.Len() > 0 {
			e.Text = e.text.String()
		}
		out = append(out, e.Entry)
	}
	return out
}

// Add takes the next event. Events that are nothing to read are left out, and so
// is what cannot be made out.
func (f *Fold) Add(e session.Event) {
	switch e.Kind {
	case session.KindUserMessage:
		f.chunk(e, User)
	case session.KindAgentMessage:
		f.chunk(e, Agent)
	case session.KindAgentThought:
		f.chunk(e, Thought)
	case session.KindToolCall, session.KindToolUpdate:
		f.toolCall(e)
	case session.KindPlan:
		f.plan(e)
	case session.KindNotice, session.KindCompaction:
		f.remark(e)
	case session.KindTurnEnd:
		f.turnEnd(e)
	}
}

// at returns the entry of an id, made at the end if it is new.
func (f *Fold) at(id string, e session.Event, role Role) *entry {
	if known, ok := f.byID[id]; ok {
		return known
	}
	n := f.append(e, role)
	if f.byID == nil {
		f.byID = make(map[string]*entry)
	}
	f.byID[id] = n
	return n
}

func (f *Fold) append(e session.Event, role Role) *entry {
	n := &entry{Entry: Entry{Role: role, Seq: e.Seq, Time: e.Time}}
	f.entries = append(f.entries, n)
	return n
}

// last is the newest entry if it has the role.
func (f *Fold) last(role Role) *entry {
	if len(f.entries) == 0 || f.entries[len(f.entries)-1].Role != role {
		return nil
	}
	return f.entries[len(f.entries)-1]
}
