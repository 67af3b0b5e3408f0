package native

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// handle is one opened native agent.
type handle struct {
	// What it works with, the same until it is closed.
	driver *Driver
	agent  *Agent
	id     string
	info   session.Info
	kin    *kin // what it works for, if it is a subagent at work
	sink   session.Sink
	redact *secret.Redactor
	log    *audit.Log
	now    func() time.Time
	procs  *proc.Custody
	roots  *fsroot.Set
	policy *policy.Policy
	box    *sandbox.Box // nil confines nothing
	// elsewhere: the session's directory is not on this machine.
	elsewhere bool
	inBox     *policy.Policy // what holds of commands that are confined

	// What changes and guards itself.
	reads    *tool.Reads
	servers  *mcp.Servers
	skills   *skills
	budget   *budget
	choices  choices
	grants   grants
	steering steering
	findings findings
	hid      atomic.Bool // a secret was kept from the model
	thinks   atomic.Bool // the model has been seen to think
	used     atomic.Pointer[tally]
	beside   chan struct{}  // holds a token for every subagent at work
	freeing  sync.WaitGroup // ends of their sessions

	// What the goroutine of the turn owns.
	past    *history
	prompt  prompt
	sets    toolsets
	problem string // of the configuration, as people were told
	awaited bool   // the first prompt has waited for the servers
	titled  bool   // the session has a title
}

// choices are what the session's options are set to. They are safe for concurrent
// use.
type choices struct {
	changing sync.Mutex // held while one changes, until that is on record

	mu      sync.Mutex
	set     choice
	lost    map[string]string // what was chosen and is not offered any more, in words, by option
	remoded chan struct{}     // closed when what is asked may change; nil while nobody waits
	// under are those of subagents at work. Their mu is taken after this one.
	under map[*choices]struct{}
}

// now returns what was chosen.
func (c *choices) now() choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set
}

// choice is what holds now: of a subagent, no mode its parent does not have, and
// no approval its parent's people do not give.
func (h *handle) choice() choice {
	c := h.choices.now()
	if h.kin != nil {
		c.Mode = h.kin.within(c.Mode)
		if h.kin.parent.choice().Elevated == elevatedOff {
			c.Elevated = elevatedOff
		}
	}
	return c
}

// Close implements session.Handle.
func (h *handle) Close(ctx context.Context) error {
	h.leaveParent()
	h.awaitFreed(ctx)
	err := h.closeConfined(ctx)
	if h.roots == nil {
		return err
	}
	return errors.Join(err, h.roots.Close())
}

// LoginError says that there is no provider, or no credentials for it, and that
// a login would help.
type LoginError struct{ Err error }

// Error returns the text of the cause.
func (e *LoginError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LoginError) Unwrap() error { return e.Err }

// failureOf turns an error of the model into what the prompt is answered with.
// Only credentials that a login would mend are an authentication error.
func failureOf(err error) error {
	var f *session.FailureError
	if errors.As(err, &f) || errors.Is(err, context.Canceled) {
		return err
	}
	code := codeInternal
	kind := model.KindOf(err)
	if _, login := errors.AsType[*LoginError](err); login || kind == model.ErrAuth {
		code = codeAuthRequired
	}
	return &session.FailureError{Failure: session.Failure{Code: code, Message: err.Error(), Data: reasonData(string(kind))}}
}

// JSON-RPC codes a turn fails with.
const (
	codeInternal     = -32603
	codeAuthRequired = -32000
)

func reasonData(reason string) jsontext.Value {
	if reason == "" {
		return nil
	}
	b, err := jsontext.AppendQuote([]byte(`{"reason":`), reason)
	if err != nil {
		return nil
	}
	return append(b, '}')
}
