package native

import (
	"context"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// whileItAsks returns the context in which people are asked about the call. It
// ends with session.ErrSuperseded once the mode is changed to one in which
// policy decides the call without them: a mode is effective at once, also for
// what is being asked just now. stop ends the watch.
func (r *running) whileItAsks(ctx context.Context) (asking context.Context, stop func()) {
	asking, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			changed := r.choices.modeChanged() // before the look, so that no change is missed
			if r.decide(r.call.Subject).Verdict != policy.Ask {
				cancel(session.ErrSuperseded)
				return
			}
			select {
			case <-changed:
			case <-asking.Done():
				return
			}
		}
	}()
	return asking, func() {
		cancel(nil)
		<-ended // it looks at the call's files
	}
}

// judgeAgain judges a call by the mode that holds now.
func (r *running) judgeAgain(ctx context.Context) (hook.Settled, *refusal, error) {
	d := r.decide(r.call.Subject)
	r.judged = d
	s := hook.Settled{Verdict: d.Verdict, Rule: d.Rule, Reason: d.Reason, By: hook.ByPolicy}
	switch d.Verdict {
	case policy.Deny:
		return s, byPolicy(d), nil
	case policy.Allow:
		return s, nil, nil
	}
	return r.ask(ctx, d)
}

// modeChanged returns a channel that is closed at the next change of the mode.
func (c *choices) modeChanged() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remoded == nil {
		c.remoded = make(chan struct{})
	}
	return c.remoded
}

// tellModeChanged wakes those who wait for a change, and subagents, whose mode it
// bounds. mu is held.
func (c *choices) tellModeChanged() {
	for child := range c.under {
		child.mu.Lock()
		child.tellModeChanged()
		child.mu.Unlock()
	}
	if c.remoded != nil {
		close(c.remoded)
		c.remoded = nil
	}
}
