// Package tool holds the native agent's tools, one file each, and the small
// contract between a tool and the loop that runs it: describe, prepare, run.
package tool

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// The tool kinds of ACP that our tools use (ToolKind in the v1 schema).
const (
	KindRead    = "read"
	KindEdit    = "edit"
	KindSearch  = "search"
	KindExecute = "execute"
	KindThink   = "think"
	KindFetch   = "fetch"
	KindOther   = "other"
)

// Spec describes one tool to the model and to the loop.
type Spec struct {
	Name        string         // what the model calls it by; lower case with underscores
	Description string         // for the model
	Schema      jsontext.Value // JSON Schema of the input, always an object
	Kind        string         // one of the Kind constants
	ReadOnly    bool           // calls may run beside other read-only calls
	Acts        bool           // changes something outside the conversation
}

// Tool is one thing the model can call. A Tool keeps no state and may be used
// by any number of sessions at once.
type Tool interface {
	// Spec returns the same description every time.
	Spec() Spec
	// Prepare decodes the input and resolves its paths without any effect. Its
	// errors are written for the model: one sentence that says what to change.
	// A Call whose Close is set must be closed, whether or not it was run.
	Prepare(ctx context.Context, env *Env, input jsontext.Value) (*Call, error)
}

// Call is one prepared use of a tool: what a person is shown, what policy
// judges, and what happens when it is run.
type Call struct {
	Title     string
	Kind      string // one of the Kind constants; may differ from the Spec's
	Locations []Location
	Subject   policy.Subject // what policy judges
	Diff      *Diff          // what an edit will do, when known beforehand
	// Question is what Run will ask a person through Env.Asker. Such a call
	// needs no permission: nobody is asked for leave to ask.
	Question *Question

	// Decided is told the decision that lets the call run, before Run; nil when
	// the call does not care.
	Decided func(policy.Decision)
	// Run acts. It is called at most once, only when policy allowed it,
	// and returns soon after ctx ends with everything it started gone.
	Run func(ctx context.Context, out Sink) Result
	// Close frees what Prepare opened. It may be called more than once; nil
	// when there is nothing to free.
	Close func()
}

// Location is a place in a file that a call touches.
type Location struct {
	Path string // absolute
	Line int    // from 1; 0 when the whole file is meant
}

// Diff is a change to one text file.
type Diff struct {
	Path    string  // absolute
	OldText *string // nil for a new file
	NewText string
}

// Result is what came of a call. Failure is a result too: the model reads it.
type Result struct {
	Title     string         // replaces the call's title from now on; "" keeps it
	Text      string         // for the model, bounded by Limits.ModelBytes
	Content   []Content      // for people; nil means Text alone
	RawOutput jsontext.Value // structured output for clients; may be nil
	// Media are images and sounds for the model, after Text. A model that does
	// not take one is told where it is kept instead.
	Media   []Media
	Plan    []PlanEntry // the whole new plan; nil leaves the plan alone
	IsError bool
}

// Shown is what people see of the result: Content, or Text where there is none.
func (r Result) Shown() []Content {
	if r.Content == nil && r.Text != "" {
		return []Content{{Text: r.Text}}
	}
	return r.Content
}

// Preface puts a sentence in front of what people see of the result.
func (r Result) Preface(text string) Result {
	r.Content = append([]Content{{Text: text}}, r.Shown()...)
	return r
}

// PlanEntry is one line of the agent's plan, as in ACP's plan update.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium or low
	Status   string `json:"status"`   // pending, in_progress or completed
}

// Sink takes live progress of a running call. Each call replaces what the one
// before it showed. Tools keep the sum of what they send within five times the
// final content, so a Sink may forward everything it gets. Progress may block,
// which slows the tool down, until the call's context ends.
type Sink interface {
	Progress(content []Content)
}

// SinkFunc makes a Sink of a function.
type SinkFunc func(content []Content)

// Progress calls f.
func (f SinkFunc) Progress(content []Content) { f(content) }
