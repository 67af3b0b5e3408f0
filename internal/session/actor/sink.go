package actor

import (
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// sink takes what the driver of one epoch says.
type sink struct {
	actor *Actor
	epoch uint64
	over  chan struct{}
	once  sync.Once
}

var _ session.Sink = (*sink)(nil)

func (s *sink) end() { s.once.Do(func() { close(s.over) }) }

// Emit implements session.Sink. What it was given is checked here, on the
// driver's own goroutine.
func (s *sink) Emit(ctx context.Context, drafts ...session.Draft) error {
	if len(drafts) == 1 {
		i, err := s.item(drafts[0])
		if err != nil {
			return err
		}
		return s.actor.mail.push(ctx, s.over, i)
	}
	items := make([]item, len(drafts))
	for n, d := range drafts {
		i, err := s.item(d)
		if err != nil {
			return err
		}
		items[n] = i
	}
	return s.actor.mail.push(ctx, s.over, items...)
}

func (s *sink) item(d session.Draft) (item, error) {
	i := item{epoch: s.epoch, event: session.Event{
		Time:      s.actor.now(),
		Epoch:     s.epoch,
		Kind:      d.Kind,
		Retention: d.Retention,
		Version:   d.Version,
		Body:      d.Body,
	}}
	if d.Retention == session.Private {
		return i, nil
	}
	facts, err := ingest.Look(d.Body)
	if err != nil {
		return item{}, err
	}
	i.facts, i.event.Marks = facts, facts.Marks
	if facts.Kind != "" {
		i.event.Kind = facts.Kind
	}
	if i.event.Kind == "" {
		return item{}, session.Invalidf("event has no kind: its params hold no update")
	}
	return i, nil
}

// Ask implements session.Sink.
func (s *sink) Ask(ctx context.Context, kind session.Kind, body jsontext.Value) (session.Verdict, error) {
	i, err := s.item(session.Draft{Kind: kind, Retention: session.Live, Version: 1, Body: body})
	if err != nil {
		return session.Verdict{}, err
	}
	type answer struct {
		verdict session.Verdict
		err     error
	}
	answered := make(chan answer, 1)
	i.event.Kind, i.event.ID = kind, session.NewID("e")
	i.gone = ctx.Done()
	i.ask = ask.New(
		session.Request{ID: i.event.ID, Kind: kind, Body: body},
		func(v session.Verdict, err error) { answered <- answer{v, err} },
	)
	if err := s.actor.mail.push(ctx, s.over, i); err != nil {
		return session.Verdict{}, err
	}
	select {
	case a := <-answered:
		return a.verdict, a.err
	case <-s.over:
	case <-ctx.Done():
		reason := ask.CancelledBy
		if errors.Is(context.Cause(ctx), session.ErrSuperseded) {
			reason = ask.Superseded
		}
		s.actor.mail.post(func() { s.actor.withdraw(i.ask.ID, reason) })
		return session.Verdict{Request: i.ask.ID, Outcome: session.Withdrawn, Reason: reason}, ctx.Err()
	}
	select {
	case a := <-answered:
		return a.verdict, a.err
	default:
		return session.Verdict{Request: i.ask.ID, Outcome: session.Withdrawn, Reason: ask.DriverGone}, session.ErrEpochOver
	}
}

// CanAsk implements session.Sink.
func (s *sink) CanAsk(kind session.Kind) bool {
	return len(s.actor.cfg.Board.Able(kind)) > 0
}

// Change implements session.Sink.
func (s *sink) Change(ctx context.Context, change session.InfoChange) error {
	return s.actor.mail.push(ctx, s.over, item{epoch: s.epoch, change: &change})
}
