package actor

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/attach"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// Answer settles a request with what an attachment answered. It reports whether
// the answer counted.
func (a *Actor) Answer(ctx context.Context, c *attach.Cursor, v session.Verdict) (bool, error) {
	ok, err := call(ctx, a, func(reply func(bool, error)) {
		q, open := a.desk.Find(v.Request)
		if !open {
			reply(false, nil)
			return
		}
		verdict, settled := q.Answer(v, c.ID(), a.cfg.Board.Able(q.Kind))
		if !settled {
			reply(false, nil)
			return
		}
		verdict.Owner = cmp.Or(v.Owner, c.Owner()) // a subagent's people are those of its parent
		a.settle(verdict)
		a.then(func(err error) { reply(err == nil, err) })
	})
	if errors.Is(err, session.ErrNotActive) {
		return false, nil
	}
	return ok, err
}

// Detached is told when an attachment has left.
func (a *Actor) Detached() {
	a.mail.post(func() {
		for _, q := range a.desk.All() {
			a.watchAble(q)
		}
		a.watchAttached()
	})
}

// watchAttached cancels a turn that nobody has been attached to for the grace.
func (a *Actor) watchAttached() {
	a.unseen.stop()
	if a.turn == nil || a.limits.TurnGrace <= 0 || a.cfg.Board.Attached() > 0 {
		return
	}
	t := a.turn
	a.unseen = a.after(a.limits.TurnGrace, func() {
		if a.turn == t && a.cfg.Board.Attached() == 0 {
			a.cancelAll("nobody_attached")
		}
	})
}

// Steer adds to the running turn, or starts one.
func (a *Actor) Steer(ctx context.Context, c *attach.Cursor, content []jsontext.Value) (session.Steered, string, error) {
	type outcome struct {
		how  session.Steered
		turn string
	}
	t, err := a.newTurn(c, session.PromptRequest{Content: content})
	if err != nil {
		return session.SteerFailed, "", err
	}
	o, err := call(ctx, a, func(reply func(outcome, error)) {
		switch {
		case a.closing != nil:
			reply(outcome{how: session.SteerFailed}, a.closing.refuse())
		case !a.mayPrompt(t):
			reply(outcome{how: session.SteerFailed}, session.ErrNotFound)
		case !a.busy():
			a.begin(t)
			a.then(func(err error) { reply(outcome{session.StartedNewTurn, t.id}, err) })
		default:
			if c, ok := a.command(t); ok {
				a.steerCommand(t, c, func(how session.Steered, err error) { reply(outcome{how, t.id}, err) })
				return
			}
			a.steer(t, func(how session.Steered, turn string, err error) { reply(outcome{how, turn}, err) })
		}
	})
	return o.how, o.turn, err
}

// steer gives content to the driver of the running turn. What the driver says
// meanwhile waits, so that the person's message is recorded before what it led
// to, and only if the driver took it.
func (a *Actor) steer(s *turn, done func(how session.Steered, turn string, err error)) {
	if a.steering != nil {
		a.waiting = append(a.waiting, func() { a.steer(s, done) })
		return
	}
	t, h := a.turn, a.driver.handle
	if t == nil || !t.driving || t.cancelling || h == nil {
		done(session.SteerFailed, "", nil)
		return
	}
	a.steering = s
	go func() {
		ctx, cancel := context.WithTimeout(t.ctx, steerBound)
		defer cancel()
		err := h.Steer(ctx, s.forDriver(t.id))
		a.mail.post(func() { a.steeredTurn(t, s, err, done) })
	}()
}

func (a *Actor) steeredTurn(t, s *turn, err error, done func(session.Steered, string, error)) {
	if a.steering == s {
		a.steering = nil
		a.mail.signal()
	}
	if err != nil || a.turn != t {
		done(session.SteerFailed, t.id, nil)
	} else {
		a.stageUser(t.id, s)
		a.keepJoined(s.key, t.id)
		a.then(func(err error) { done(session.Injected, t.id, err) })
	}
	next := a.waiting
	a.waiting = nil
	for _, f := range next {
		f()
	}
}

// maxSteered bounds the keys kept of prompts that joined a turn.
const maxSteered = 256

// keepJoined remembers such a key; nil when there is none.
func (a *Actor) keepJoined(key, turn string) *session.Prompted {
	if key == "" {
		return nil
	}
	if len(a.steered) >= maxSteered {
		clear(a.steered)
	}
	joined := &session.Prompted{Turn: turn}
	a.steered[key] = joined
	return joined
}

// Set changes a config option for an owner, "" being the session's own.
func (a *Actor) Set(ctx context.Context, owner, option, value string) (session.Setup, error) {
	return call(ctx, a, func(reply func(session.Setup, error)) {
		if a.closing != nil {
			reply(session.Setup{}, a.closing.refuse())
			return
		}
		a.sets++
		a.withHandle(func(h session.Handle, err error) {
			if err != nil {
				a.sets--
				reply(session.Setup{}, err)
				return
			}
			go func() {
				setup, err := h.Set(ctx, owner, option, value)
				a.mail.post(func() { a.chosen(option, value, setup, err, reply) })
			}()
		})
	})
}

// chosen records a choice, so that it holds when the session is restored.
func (a *Actor) chosen(option, value string, setup session.Setup, err error, reply func(session.Setup, error)) {
	a.sets--
	if err != nil {
		reply(session.Setup{}, err)
		return
	}
	a.stage(a.own(session.KindSet, session.Private, "", session.SetOption{Option: option, Value: value}))
	a.cfg.Board.SetSetup(setup)
	a.then(func(err error) { reply(setup, err) })
}

// Record keeps what a client sent as its own session/update.
func (a *Actor) Record(ctx context.Context, by string, body jsontext.Value) error {
	facts, err := ingest.Look(body)
	if err != nil {
		return err
	}
	_, err = call(ctx, a, func(reply func(struct{}, error)) {
		e := a.own(session.KindCustom, session.Live, "", body)
		e.Origin, e.By, e.Version, e.Marks = session.FromClient, by, 1, facts.Marks
		if a.turn != nil {
			e.Turn = a.turn.id
		}
		a.stage(e)
		a.then(func(err error) { reply(struct{}{}, err) })
	})
	return err
}

// Change patches the session's Info for a person. A new title, label or key is
// told to those attached.
func (a *Actor) Change(ctx context.Context, c session.InfoChange) error {
	_, err := call(ctx, a, func(reply func(struct{}, error)) {
		switch {
		case c.Title != nil:
			a.tellInfo("", session.History, c.Title)
		case c.Label != nil, c.Key != nil: // the surface says what they are
			a.tellInfo("", session.Live, nil)
		}
		a.changeInfo(c)
		a.then(func(err error) { reply(struct{}{}, err) })
	})
	return err
}

// tellInfo stages a session_info_update (ACP v1): when the session was last used,
// and a new title, if there is one. An empty title takes the old one away.
func (a *Actor) tellInfo(turn string, r session.Retention, title *string) {
	members := map[string]any{"updatedAt": a.info.UpdatedAt.UTC().Format(time.RFC3339Nano)}
	switch {
	case title != nil && *title != "":
		members["title"] = *title
	case title != nil:
		members["title"] = nil
	}
	e := a.own(session.KindInfo, r, turn, a.update(session.KindInfo, members))
	facts, _ := ingest.Look(e.Body) // our own
	e.Version, e.Marks = 1, facts.Marks
	a.stage(e)
}

// Revoke takes back what people allowed for the whole session. When it returns
// nothing of it is allowed any more, and that is recorded. An agent that keeps no
// grants is session.ErrUnsupported.
func (a *Actor) Revoke(ctx context.Context, grants jsontext.Value) error {
	for {
		_, err := call(ctx, a, func(reply func(struct{}, error)) {
			a.withHandle(func(h session.Handle, err error) {
				g, ok := h.(session.Granter)
				if err == nil && !ok {
					err = session.ErrUnsupported
				}
				if err != nil {
					reply(struct{}{}, err)
					return
				}
				go a.revoke(ctx, a.driver.sink, g, grants, func(err error) { reply(struct{}{}, err) })
			})
		})
		// An epoch that ended meanwhile may not have recorded it: the next one reads
		// what is recorded, and is asked again.
		if !errors.Is(err, session.ErrEpochOver) {
			return err
		}
	}
}

func (a *Actor) revoke(ctx context.Context, s *sink, g session.Granter, grants jsontext.Value, done func(error)) {
	err := g.Revoke(ctx, grants)
	if err == nil {
		err = a.mail.push(ctx, s.over, item{epoch: s.epoch, then: done})
	}
	if err != nil {
		a.mail.post(func() { done(err) })
	}
}

// Status says what the session does now, as committed.
func (a *Actor) Status(ctx context.Context) (session.Status, error) {
	return call(ctx, a, func(reply func(session.Status, error)) {
		reply(a.status(), nil)
	})
}

func (a *Actor) status() session.Status {
	s := session.Status{
		Active: true, Waiting: a.cfg.Board.Waiting(),
		Queued: len(a.seen.Queue),
	}
	if t := a.seen.Turn; t != nil {
		s.Running, s.Turn = true, t.ID
	}
	return s
}
