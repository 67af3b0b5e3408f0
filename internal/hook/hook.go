// Package hook holds the points of a turn at which others than the agent look on
// or have a say: what they are told, what they may answer, and the commands a
// user has configured for them. Policy comes first at every point; a hook can
// make a decision stricter or spare a person a question, and rewrites nothing.
package hook

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// Call is one tool call at a point.
type Call struct {
	Session, Turn string // ids
	Agent         string // alias
	Owner         string // principal the session belongs to
	Cwd           string // absolute
	Mode          policy.Mode
	ID            string // of the call, unique in the session
	Tool          string // its name, server__tool for tools of MCP servers
	Kind          string // ACP tool kind
	Title         string
	Input         jsontext.Value // as the model wrote it
}

// Settled is what became of a call before it ran: it may run, or it does not.
type Settled struct {
	Verdict policy.Verdict // Allow or Deny
	Rule    string         // of the policy, or the point that answered
	Reason  string
	By      string        // who decided: ByPolicy, ByHook, ByNobody, else the attachment that answered
	Person  string        // whose attachment that was
	Grant   *policy.Grant // what a person allowed for the whole session besides; nil for nothing
}

// Who decides where no person does.
const (
	ByPolicy = "policy"
	ByHook   = "hook"
	ByNobody = "nobody" // a person was needed and none answered
)

// Result is how a call ended.
type Result struct {
	IsError bool
	Text    string // what the model is told
	Took    time.Duration
}

// Final is a turn about to end, because the model has nothing more to do.
type Final struct {
	Session, Turn, Agent, Owner, Cwd string
	Mode                             policy.Mode
	Text                             string // the last message of the model
}

// Answer is what a hook says to a question of permission.
type Answer struct {
	Verdict policy.Verdict // Allow or Deny; Ask leaves it to a person
	Reason  string
}

// Points are told of a turn as it goes. Calls of one turn may overlap. An
// implementation that cares for some of them embeds None.
type Points interface {
	// BeforeTool comes for each call that policy does not refuse, before anybody
	// is asked. A reason in block keeps the call from running, and so does an
	// error.
	BeforeTool(ctx context.Context, c Call, d policy.Decision) (block string, err error)
	// Permission comes for each call that policy would ask about, before people
	// are asked. An error is told and leaves the question to them.
	Permission(ctx context.Context, c Call, d policy.Decision) (Answer, error)
	// Settled comes once for each call, when it is known whether it runs; for
	// one that policy refuses it is the only point. An error keeps the call from
	// running.
	Settled(ctx context.Context, c Call, s Settled) error
	// AfterTool comes when a call that ran has ended. An error is told.
	AfterTool(ctx context.Context, c Call, r Result) error
	// BeforeFinalize comes at most once a turn. Text in again is given to the
	// model, which goes on. An error is told and the turn ends.
	BeforeFinalize(ctx context.Context, f Final) (again string, err error)
}

// None is Points without an opinion.
type None struct{}

var _ Points = None{}

// BeforeTool implements Points.
func (None) BeforeTool(context.Context, Call, policy.Decision) (string, error) { return "", nil }

// Permission implements Points.
func (None) Permission(context.Context, Call, policy.Decision) (Answer, error) {
	return Answer{Verdict: policy.Ask}, nil
}

// Settled implements Points.
func (None) Settled(context.Context, Call, Settled) error { return nil }

// AfterTool implements Points.
func (None) AfterTool(context.Context, Call, Result) error { return nil }

// BeforeFinalize implements Points.
func (None) BeforeFinalize(context.Context, Final) (string, error) { return "", nil }
