package actor

import (
	"slices"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

func queuedAs(turn string) func(state.Queued) bool {
	return func(q state.Queued) bool { return q.Turn == turn }
}

// hear takes the next thing a driver said. What comes from an epoch that is
// over is dropped.
func (a *Actor) hear(i *item) {
	if i.epoch != a.driver.epoch || a.driver.sink == nil {
		if i.ask != nil {
			i.ask.Reply(session.Verdict{Request: i.ask.ID, Outcome: session.Withdrawn, Reason: ask.DriverGone}, session.ErrEpochOver)
		}
		if i.then != nil {
			i.then(session.ErrEpochOver)
		}
		return
	}
	switch {
	case i.done != nil:
		a.returned(i.done)
	case i.change != nil:
		a.hold(*i.change)
	case i.then != nil:
		a.stageHeld()
		a.then(i.then)
	case i.ask != nil:
		a.ask(i)
	default:
		a.emitted(i)
	}
}

func (a *Actor) emitted(i *item) {
	e := i.event
	if a.turn != nil && a.turn.driving {
		e.Turn = a.turn.id
	}
	a.stageHeld()
	switch e.Kind {
	case session.KindToolCall, session.KindToolUpdate:
		if e.Retention != session.Private {
			a.toolCall(e, i.facts)
			return
		}
	case session.KindAgentMessage, session.KindUserMessage:
		a.fold.Chunk(e, i.facts, a.next.Seq+1)
	}
	if a.calls.renamed() && e.Retention != session.Private {
		e = a.calls.rename(e)
	}
	a.stage(e)
}

// hold keeps a change of Info until the driver's next event or the turn's end,
// so that both are committed together; between turns it does not wait.
func (a *Actor) hold(c session.InfoChange) {
	if c.TitleSet == nil && a.titleChosen() {
		c.Title = nil
	}
	if a.held == nil {
		a.held = new(session.InfoChange)
	}
	a.held.Merge(c)
	if a.turn == nil {
		a.stageHeld()
	}
}

// titleChosen reports whether a person chose the title, just now included.
func (a *Actor) titleChosen() bool {
	for _, c := range []*session.InfoChange{a.held, a.batch.change} {
		if c != nil && c.TitleSet != nil {
			return *c.TitleSet
		}
	}
	return a.info.TitleSet
}

func (a *Actor) stageHeld() {
	if a.held == nil {
		return
	}
	c := *a.held
	a.held = nil
	if c.Title != nil {
		turn := ""
		if a.turn != nil {
			turn = a.turn.id
		}
		a.tellInfo(turn, session.Live, c.Title)
	}
	a.changeInfo(c)
}

// ask opens a request to people, or denies it at once where nobody can answer.
func (a *Actor) ask(i *item) {
	q := i.ask
	select {
	case <-i.gone:
		return // the driver does not wait for it any more
	default:
	}
	if a.closing != nil || (a.turn != nil && a.turn.cancelling) {
		q.Reply(session.Verdict{Request: q.ID, Outcome: session.Withdrawn, Reason: ask.CancelledBy}, nil)
		return
	}
	a.flushCalls()
	e := i.event
	if a.turn != nil {
		e.Turn = a.turn.id
	}
	if a.calls.renamed() {
		e = a.calls.rename(e)
		q.Body = e.Body
	}
	a.stageHeld()
	a.stage(e)
	q.Seq, q.Turn = a.next.Seq, e.Turn
	a.desk.Add(q)
	if a.limits.Ask > 0 {
		q.Expires = a.now().Add(a.limits.Ask)
		expiry := a.after(a.limits.Ask, func() { a.withdraw(q.ID, ask.Expired) })
		q.Closed = expiry.stop
	}
	a.batch.opened = append(a.batch.opened, q.Request)
	a.watchAble(q)
}

// watchAble withdraws a request that nobody attached can answer, after the
// grace.
func (a *Actor) watchAble(q *ask.Request) {
	able := func() bool { return q.Answerable(a.cfg.Board.Able(q.Kind)) }
	if able() {
		return
	}
	if a.limits.AskGrace <= 0 {
		a.withdraw(q.ID, ask.NobodyAble)
		return
	}
	a.after(a.limits.AskGrace, func() {
		if !able() {
			a.withdraw(q.ID, ask.NobodyAble)
		}
	})
}

// withdraw ends a request without a person's decision.
func (a *Actor) withdraw(id, reason string) {
	if _, open := a.desk.Find(id); open {
		a.settle(session.Verdict{Request: id, Outcome: session.Withdrawn, Reason: reason})
	}
}

// withdrawAll ends every open request.
func (a *Actor) withdrawAll(reason string) {
	for len(a.next.Requests) > 0 {
		a.settle(session.Verdict{Request: a.next.Requests[0].ID, Outcome: session.Withdrawn, Reason: reason})
	}
}

// settle stages a verdict; the driver hears it once it is committed.
func (a *Actor) settle(v session.Verdict) {
	i := slices.IndexFunc(a.next.Requests, func(r state.Requested) bool { return r.ID == v.Request })
	if i < 0 {
		return
	}
	e := a.own(session.KindVerdict, session.Live, a.next.Requests[i].Turn, v)
	e.By = v.By
	a.stage(e)
	a.batch.settled = append(a.batch.settled, v.Request)
	q, ok := a.desk.Close(v.Request)
	if !ok {
		return
	}
	a.then(func(err error) {
		if err != nil {
			v = session.Verdict{Request: v.Request, Outcome: session.Withdrawn, Reason: ask.StoreFailed}
		}
		q.Reply(v, err)
	})
}

// dropRequests ends all requests in memory: the store could not record a
// verdict.
func (a *Actor) dropRequests(reason string) {
	var ids []string
	for _, q := range a.desk.All() {
		a.desk.Close(q.ID)
		ids = append(ids, q.ID)
		q.Reply(session.Verdict{Request: q.ID, Outcome: session.Withdrawn, Reason: reason}, nil)
	}
	a.cfg.Board.Withdraw(ids)
}

// busyNow reports whether the session has anything to do.
func (a *Actor) busyNow() bool {
	return a.turn != nil || a.next.Turn != nil || len(a.next.Queue) > 0 ||
		a.desk.Len() > 0 || a.sets > 0 || a.asides > 0 || a.driver.opening || a.steering != nil
}

// watchIdle keeps the timer that asks for the session to be parked.
func (a *Actor) watchIdle() {
	if a.limits.Idle <= 0 || a.cfg.OnIdle == nil {
		return
	}
	if a.idle == nil {
		a.idle = time.AfterFunc(a.limits.Idle, a.cfg.OnIdle)
	}
	if a.ended || a.busyNow() {
		a.idle.Stop()
		return
	}
	a.idle.Reset(a.limits.Idle)
}
