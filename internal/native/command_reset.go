package native

import (
	"context"
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// compactNow compacts because the user asked for it.
func (t *turn) compactNow(ctx context.Context, _ string) (session.StopReason, error) {
	if cutPoint(t.past.messages) == 0 {
		return session.EndTurn, t.say(ctx, "The conversation is too short to be shortened.")
	}
	if err := t.connect(ctx); err != nil {
		return "", err
	}
	before := len(t.past.messages)
	if err := t.compact(ctx); err != nil {
		return "", err
	}
	return session.EndTurn, t.say(ctx, fmt.Sprintf("The conversation was shortened from %d messages to %d.", before, len(t.past.messages)))
}

// reset has the model's conversation start from nothing. What was shown stays in
// the session, and so do its options and what people allowed.
func (t *turn) reset(ctx context.Context, _ string) (session.StopReason, error) {
	if err := t.forget(ctx); err != nil {
		return "", err
	}
	return session.EndTurn, t.say(ctx, "The conversation starts anew here. What stands above is kept, but the model does not know of it any more.")
}

func (t *turn) forget(ctx context.Context) error {
	if err := t.keep(ctx, record{Reset: true}); err != nil {
		return err
	}
	return t.showUsage(ctx)
}

// startAnew does the same and takes the title away, which the next prompt gives
// anew: a client's session keeps its id for as long as the client has it.
func (t *turn) startAnew(ctx context.Context, _ string) (session.StopReason, error) {
	if err := t.forget(ctx); err != nil {
		return "", err
	}
	title, byPerson := "", false
	if err := t.sink.Change(ctx, session.InfoChange{Title: &title, TitleSet: &byPerson}); err != nil {
		return "", err
	}
	t.titled = false
	return session.EndTurn, t.say(ctx, "A new conversation starts here, in the same session. What stands above is kept, but the model does not know of it any more.")
}
