package actor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/fold"
)

// batch gathers what is committed together.
type batch struct {
	events  []session.Event
	docs    []session.Doc
	change  *session.InfoChange
	ends    bool // a turn ends in it: with a snapshot, flushed to disk
	opened  []session.Request
	settled []string
	then    []func(error) // told how the commit went
}

func (b *batch) empty() bool {
	return len(b.events) == 0 && b.change == nil && len(b.then) == 0
}

func (b *batch) reset(idle bool) {
	*b = batch{events: recycle(b.events, idle), then: recycle(b.then, idle)}
}

// stage puts an event next in line. It counts for every decision from now on
// and is shown once committed.
func (a *Actor) stage(e session.Event) {
	e.Seq = a.next.Seq + 1
	if e.ID == "" {
		e.ID = a.ids.Next()
	}
	a.next.Apply(e)
	a.batch.events = append(a.batch.events, e)
}

// own makes an event of the hub's.
func (a *Actor) own(kind session.Kind, r session.Retention, turn string, body any) session.Event {
	raw, ok := body.(jsontext.Value)
	if !ok {
		raw, _ = json.Marshal(body) // the hub's own bodies always encode
	}
	return session.Event{
		ID: a.ids.Next(), Time: a.now(), Turn: turn, Epoch: a.driver.epoch,
		Kind: kind, Retention: r, Origin: session.FromHub, Body: raw,
	}
}

// changeInfo patches the session's Info with the batch.
func (a *Actor) changeInfo(c session.InfoChange) {
	if a.batch.change == nil {
		a.batch.change = new(session.InfoChange)
	}
	a.batch.change.Merge(c)
}

// then runs f when what is staged so far is committed, or has failed.
func (a *Actor) then(f func(error)) { a.batch.then = append(a.batch.then, f) }

// commit appends what is staged, shows it, and goes on with what that leads to.
func (a *Actor) commit() {
	for !a.batch.empty() {
		a.batch, a.spare = a.spare, a.batch
		b := &a.spare
		err := a.append(b)
		switch {
		case err == nil:
			a.show(b)
		case len(b.events) == 0 && !lost(err):
			// Only a change of Info was refused: nothing else is in doubt.
		default:
			a.fail(err)
		}
		for _, f := range b.then {
			f(err)
		}
		b.reset(!a.busyNow())
	}
}

func (a *Actor) append(b *batch) error {
	ctx := context.Background() // a commit under way is not given up
	if len(b.events) == 0 {
		if b.change == nil {
			return nil
		}
		return a.cfg.Ledger.Update(ctx, a.info.ID, a.cfg.Fence, *b.change)
	}
	out := session.Batch{Events: b.events, Docs: b.docs, Change: b.change, Durable: b.ends}
	if b.ends {
		snap, err := a.next.Encode()
		if err != nil {
			return err
		}
		out.Snapshot = snap
	}
	last, err := a.cfg.Ledger.Append(ctx, a.info.ID, a.cfg.Fence, out)
	if err != nil {
		return err
	}
	if want := a.seen.Seq + session.Seq(len(b.events)); last != want {
		return fmt.Errorf("the store numbered the last event %d, expected %d", last, want)
	}
	return nil
}

func (a *Actor) show(b *batch) {
	for _, e := range b.events {
		a.seen.Apply(e)
	}
	if b.change != nil {
		b.change.Apply(&a.info)
		a.cfg.Board.SetInfo(a.info)
	}
	a.cfg.Board.Publish(b.events, b.opened, b.settled)
}

// fail ends in memory what could not be recorded. People are told in events
// that are not in the ledger; the session goes on from what is.
func (a *Actor) fail(err error) {
	a.next = a.seen.Clone()
	a.batch.reset(true)
	a.stale = true
	a.held = nil
	a.fold = fold.Fold{}
	if lost(err) {
		a.lose(err)
		return
	}
	a.cfg.Log.Error("session store failed", "session", a.info.ID, "err", err)
	a.dropRequests(ask.StoreFailed)
	if a.turn != nil || a.seen.Turn != nil {
		a.failTurn(err)
	}
	a.abandon()
	a.retryLater()
}

// lost reports that the session is not this actor's any more.
func lost(err error) bool {
	return errors.Is(err, session.ErrFenced) || errors.Is(err, session.ErrNotFound)
}

// failTurn answers the turn that ran. Its end is committed when the store
// works again.
func (a *Actor) failTurn(err error) {
	t := a.turn
	a.turn = nil
	if t != nil {
		t.stop()
	}
	if a.seen.Turn == nil || a.seen.Turn.ID == a.told { // not begun for anyone, or told already
		return
	}
	failure := storeFailure(err)
	body := a.notice("error", "The session could not be saved", failure.Message)
	a.cfg.Board.Tell(a.own(session.KindNotice, session.Live, a.seen.Turn.ID, body))
	a.tellEnd(a.seen.Turn.ID, failure, ask.StoreFailed)
}

// tellEnd answers a turn whose end cannot be committed.
func (a *Actor) tellEnd(turn string, f session.Failure, reason string) {
	a.told = turn
	a.cfg.Board.Tell(a.own(session.KindTurnEnd, session.Live, turn, session.TurnEnd{Turn: turn, Error: &f, Reason: reason}))
}

// tellQueue answers prompts that will not run here any more.
func (a *Actor) tellQueue(f session.Failure, reason string) {
	for _, q := range a.seen.Queue {
		a.tellEnd(q.Turn, f, reason)
	}
}

func storeFailure(err error) session.Failure {
	return session.Failure{
		Code:    codeInternal,
		Message: fmt.Sprintf("the session could not be saved: %v; free space or repair the store, then prompt again", err),
		Data:    jsontext.Value(`{"reason":"store_failure"}`),
	}
}

// notice is a session/update of kind notice.
func (a *Actor) notice(severity, title, text string) jsontext.Value {
	return a.update(session.KindNotice, map[string]any{"severity": severity, "title": title, "description": text})
}

// update makes the params of a session/update from its members.
func (a *Actor) update(kind session.Kind, members map[string]any) jsontext.Value {
	members["sessionUpdate"] = string(kind)
	raw, _ := json.Marshal(struct {
		SessionID string         `json:"sessionId"`
		Update    map[string]any `json:"update"`
	}{a.info.ID, members}, json.Deterministic(true))
	return raw
}

// lose ends the actor of a session that is no longer its.
func (a *Actor) lose(err error) {
	if t := a.turn; t != nil {
		a.turn = nil
		t.stop()
	}
	a.dropRequests(ask.StoreFailed)
	a.abandon()
	gone := session.Failure{
		Code: codeInternal, Message: fmt.Sprintf("session %s is no longer run by this process: %v", a.info.ID, err),
		Data: jsontext.Value(`{"reason":"interrupted"}`),
	}
	if t := a.seen.Turn; t != nil && t.ID != a.told {
		a.tellEnd(t.ID, gone, ask.Interrupted)
	}
	a.tellQueue(gone, ask.Interrupted)
	if !a.ended && a.cfg.OnLost != nil {
		go a.cfg.OnLost(a, err)
	}
	a.ended = true
	if a.closing == nil {
		a.closing = &closing{err: session.ErrNotActive}
	}
	a.closing.finish(nil)
}

// retryEvery is how often a failing store is tried while something waits for it.
const retryEvery = 2 * time.Second

// retryLater comes back while there are turns whose end could not be recorded
// or prompts that wait.
func (a *Actor) retryLater() {
	a.repairs.stop()
	a.repairs = a.after(retryEvery, func() {
		if !a.stale {
			a.repair()
		} else {
			a.retryLater()
		}
	})
}

// resync looks at what the ledger holds after a failed append: a failure may
// have been reported for what was written after all.
func (a *Actor) resync() {
	if !a.stale {
		return
	}
	for {
		events, err := a.cfg.Ledger.Read(context.Background(), a.info.ID, a.seen.Seq, restorePage)
		if err != nil {
			return
		}
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			a.seen.Apply(e)
		}
		a.cfg.Board.Publish(events, nil, nil)
	}
	a.next = a.seen.Clone()
	a.stale = false
}

// repair stages the end of a turn that ended in memory only, then lets the
// queue go on.
func (a *Actor) repair() {
	a.mend()
	a.then(func(err error) {
		if err == nil {
			a.startNext()
		}
	})
}

// mend stages what a failed append left open. Nothing when all is well.
func (a *Actor) mend() {
	if a.turn != nil || a.next.Turn == nil {
		return
	}
	failure := session.Failure{
		Code: codeInternal, Message: "the session could not be saved while this turn ran",
		Data: jsontext.Value(`{"reason":"store_failure"}`),
	}
	a.endStaged(session.TurnEnd{Turn: a.next.Turn.ID, Error: &failure, Reason: ask.StoreFailed})
}
