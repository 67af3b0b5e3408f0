package actor

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// restorePage is how many events are read at once where a State is rebuilt.
const restorePage = 512

// Restore rebuilds a session's State: its snapshot and the events after it.
func Restore(ctx context.Context, ledger session.Ledger, id string) (*state.State, error) {
	s, err := fromSnapshot(ctx, ledger, id)
	if err != nil {
		return nil, fmt.Errorf("restore session %s: %w", id, err)
	}
	err = each(ctx, ledger, id, s.Seq, func(e session.Event) error {
		s.Apply(e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("restore session %s: %w", id, err)
	}
	return s, nil
}

func fromSnapshot(ctx context.Context, ledger session.Ledger, id string) (*state.State, error) {
	raw, at, err := ledger.Snapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	if s, ok := state.Decode(raw); ok && s.Seq == at {
		return s, nil
	}
	return new(state.State), nil // a snapshot that cannot be used is done without
}

// each reads a session's events after seq in short pages.
func each(ctx context.Context, ledger session.Ledger, id string, after session.Seq, f func(session.Event) error) error {
	for {
		events, err := ledger.Read(ctx, id, after, restorePage)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			if err := f(e); err != nil {
				return err
			}
		}
		after = events[len(events)-1].Seq
	}
}

// recover ends what a process left open when it died: it is never run again.
func (a *Actor) recover(ctx context.Context) error {
	s := a.next
	if s.Turn == nil && len(s.Queue) == 0 && len(s.Requests) == 0 && len(s.Calls) == 0 {
		return nil
	}
	if s.Turn != nil {
		err := each(ctx, a.cfg.Ledger, a.info.ID, s.Turn.Start-1, func(e session.Event) error {
			a.fold.Event(e)
			return nil
		})
		if err != nil {
			return fmt.Errorf("restore session %s: %w", a.info.ID, err)
		}
	}
	a.withdrawAll(ask.Interrupted)
	a.closeCalls(statusFailed)
	if s.Turn != nil {
		a.endStaged(interrupted(s.Turn.ID))
	}
	for len(s.Queue) > 0 {
		a.endStaged(interrupted(s.Queue[0].Turn))
	}
	a.batch.ends = true
	b := a.batch
	a.batch = batch{}
	if err := a.append(&b); err != nil {
		return fmt.Errorf("restore session %s: %w", a.info.ID, err)
	}
	a.show(&b)
	return nil
}

func interrupted(turn string) session.TurnEnd {
	return session.TurnEnd{Turn: turn, Reason: "interrupted", Error: &session.Failure{
		Code:    codeInternal,
		Message: "the process that ran this turn ended before it did; prompt again to go on",
		Data:    jsontext.Value(`{"reason":"interrupted"}`),
	}}
}
