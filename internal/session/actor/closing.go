package actor

import (
	"context"
	"errors"
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
)

// ErrClosing refuses work of a session that is being closed, not parked: to
// restore it is no use. It matches session.ErrNotActive.
var ErrClosing = fmt.Errorf("%w", session.ErrNotActive)

// closing is a session on its way out.
type closing struct {
	err  error // what new work is answered with
	done []func(error)
}

func (c *closing) refuse() error { return c.err }

func (c *closing) finish(err error) {
	if c == nil {
		return
	}
	for _, f := range c.done {
		f(err)
	}
	c.done = nil
}

// Close cancels what runs and waits and ends the actor.
func (a *Actor) Close(ctx context.Context) error {
	return a.end(ctx, ErrClosing, func() { a.cancelAll("") })
}

// Stop lets the running turn end, cancels those that wait, and ends the actor.
// When ctx ends first the actor goes on stopping.
func (a *Actor) Stop(ctx context.Context) error {
	return a.end(ctx, ErrClosing, func() { a.cancelQueue("") })
}

// Drain takes no new prompts and lets running and queued turns go on until ctx
// ends, then cancels them; either way the actor has ended when it returns.
func (a *Actor) Drain(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		a.mail.post(func() { a.cancelAll("drained") })
	})
	defer stop()
	bound := context.WithoutCancel(ctx)
	return a.end(bound, session.ErrDraining, func() {
		if ctx.Err() != nil {
			a.cancelAll("drained")
		}
	})
}

// end runs f as the session begins to close and waits for the actor to have
// ended, its driver closed.
func (a *Actor) end(ctx context.Context, refuse error, f func()) error {
	_, err := call(ctx, a, func(reply func(struct{}, error)) {
		if a.closing == nil {
			a.closing = &closing{err: refuse}
		}
		a.closing.done = append(a.closing.done, func(err error) { reply(struct{}{}, err) })
		f()
	})
	if err != nil && !errors.Is(err, session.ErrNotActive) {
		return err
	}
	a.gone()
	return nil
}

// endWhenIdle ends the actor once nothing runs or waits.
func (a *Actor) endWhenIdle() {
	if a.closing == nil || a.ended || a.turn != nil {
		return
	}
	if len(a.next.Queue) > 0 && !a.stale {
		return
	}
	if a.stale {
		a.tellQueue(storeFailure(errors.New("the store failed")), ask.StoreFailed)
	}
	a.abandon()
	a.stageHeld()
	a.ended = true
	a.then(a.closing.finish)
	a.commit()
}

// gone waits until nothing of the session runs here but drivers that ignore
// being told to stop.
func (a *Actor) gone() {
	<-a.done
	a.closers.Wait()
}

// Park ends the actor if it has nothing to do, and reports whether it did.
func (a *Actor) Park(ctx context.Context) (bool, error) {
	parked, err := call(ctx, a, func(reply func(bool, error)) {
		if a.closing != nil || a.busyNow() || len(a.batch.events) > 0 {
			reply(false, nil)
			return
		}
		a.closing = &closing{err: session.ErrNotActive}
		a.closing.done = append(a.closing.done, func(err error) { reply(true, err) })
		a.endWhenIdle()
	})
	if err == nil && parked {
		a.gone()
	}
	return parked, err
}
