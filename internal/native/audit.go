package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// recordCall puts on record what became of a call. One that acts or reaches the
// network does not run unrecorded; other reads are recorded only when they were
// asked about or refused, so that they cost nothing.
func (r *running) recordCall(ctx context.Context, s hook.Settled) error {
	if r.call == nil || r.call.Question != nil {
		return nil
	}
	reads := !r.acts && !r.call.Subject.Network
	if reads && s.Verdict == policy.Allow && s.By == hook.ByPolicy {
		return nil
	}
	err := r.log.Record(ctx, r.callEntry(s))
	if err == nil || s.Verdict != policy.Allow {
		return nil
	}
	return fmt.Errorf("%w; make room or mend it, until then nothing that acts is run", err)
}

// recordBroken puts on record that a call could not be prepared because it is
// not allowed. Other failures decide nothing.
func (r *running) recordBroken(ctx context.Context, s hook.Settled, cause error) {
	if errors.Is(cause, fsroot.ErrOutside) || errors.Is(cause, fsroot.ErrForbidden) {
		s.Rule, s.By = "roots", hook.ByPolicy
	}
	if r.call != nil || s.By == hook.ByPolicy {
		_ = r.log.Record(ctx, r.callEntry(s)) // it is not run either way
	}
}

// outsideSandbox is what confines a command that asked to be confined by
// nothing.
const outsideSandbox = "outside"

func (r *running) callEntry(s hook.Settled) audit.Entry {
	e := r.entry(audit.Call)
	e.Verdict, e.Rule, e.By, e.Reason = s.Verdict.String(), s.Rule, s.By, s.Reason
	if r.call != nil && (r.call.Subject.Command != "" || len(r.call.Subject.Argv) > 0) {
		e.Sandbox = r.rung
		if r.call.Subject.Outside {
			e.Sandbox = outsideSandbox
		}
	}
	switch s.By {
	case hook.ByPolicy, hook.ByHook, hook.ByNobody:
	default:
		e.By = strings.TrimSpace("person " + s.Person + " " + s.By)
	}
	return e
}

// recordEnd puts on record how a call that acts has ended.
func (r *running) recordEnd(ctx context.Context, failed bool) {
	e := r.entry(audit.Result)
	if e.Outcome = "completed"; failed {
		e.Outcome = "failed"
	}
	_ = r.log.Record(ctx, e) // it has happened; the next call is refused
}

// entry is what every record of a call says.
func (r *running) entry(event audit.Event) audit.Entry {
	e := r.handle.entry(event)
	e.Turn, e.Call, e.Tool = r.ID, r.shown, r.wish.Name
	e.What, e.Digest = whatOf(r), audit.DigestOf(r.wish.Input)
	return e
}

func whatOf(r *running) string {
	if r.call == nil {
		return pathIn(r.wish.Input)
	}
	s := r.call.Subject
	switch {
	case s.Command != "":
		return s.Command
	case len(s.Argv) > 0:
		return strings.Join(s.Argv, " ")
	case len(s.Paths) == 0:
		return r.call.Title
	}
	var paths []string
	for _, p := range s.Paths {
		paths = append(paths, p.Abs)
	}
	return strings.Join(paths, " ")
}

// entry is what every record of a session says.
func (h *handle) entry(event audit.Event) audit.Entry {
	return audit.Entry{Event: event, Owner: h.info.Owner, Session: h.id, Agent: h.agent.Alias}
}

// recordChange puts on record that a grant or an option of the session changes.
func (h *handle) recordChange(ctx context.Context, event audit.Event, what string) error {
	e := h.entry(event)
	e.What = what
	return h.log.Record(ctx, e)
}
