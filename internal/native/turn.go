package native

import (
	"context"
	"errors"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// turn is one prompt being worked on.
type turn struct {
	*handle
	session.Turn
	provider model.Provider
	choice   choice
	bound    policy.Rights // what those whose words are in it leave of the session's rights
	// finalized is set once the last point of the turn was asked.
	finalized bool
	found     *sandbox.Status // what was known of the sandbox when it began
	prompted  bool            // the system prompt was made for this turn
	typed     []model.Part    // the prompt as the person sent it
	said      bool            // the model or we have shown the user any text

	// The project's instructions at a client whose hands do everything.
	awayFile, awayText string
}

// Prompt implements session.Handle: model steps and tool calls until the model
// has nothing more to do.
func (h *handle) Prompt(ctx context.Context, st session.Turn) (session.TurnEnd, error) {
	t := &turn{handle: h, Turn: st, bound: h.boundOf(st.Owner)}
	t.choice = t.choiceNow()
	h.steering.begin()
	stop, err := t.run(ctx)
	h.steering.end()
	if err == nil && ctx.Err() == nil {
		err = t.lookAtSkills(ctx) // the turn may have written some
	}
	// What the user added last is part of the conversation all the same.
	if left := t.keepSteered(detached(ctx), nil); err == nil {
		err = left
	}
	if ctx.Err() != nil {
		stop, err = session.Cancelled, nil
	}
	if err != nil {
		return session.TurnEnd{}, h.cleanError(failureOf(err))
	}
	return session.TurnEnd{Stop: stop, Usage: usageJSON(h.past.usage)}, nil
}

// run is the turn from the user's message on. The message is kept before
// credentials are looked at, so a failed turn is still part of the session.
func (t *turn) run(ctx context.Context) (session.StopReason, error) {
	parts, err := t.readContent(ctx, t.Content)
	if err != nil {
		return "", err
	}
	t.typed = parts
	if t.Hands.Only {
		t.projectAway(ctx)
	}
	if err := t.tellOfLost(ctx); err != nil {
		return "", err
	}
	if err := t.lookAtSkills(ctx); err != nil {
		return "", err
	}
	if c, args, ok := t.commandIn(parts); ok {
		return t.obey(ctx, c, args)
	}
	return t.converse(ctx, parts)
}

// converse gives parts to the model as the user's message.
func (t *turn) converse(ctx context.Context, parts []model.Part) (session.StopReason, error) {
	if err := t.titleFrom(ctx, t.typed); err != nil {
		return "", err
	}
	user := model.Message{Role: model.RoleUser, Parts: parts}
	if err := t.keep(ctx, record{Message: &user}); err != nil {
		return "", err
	}
	if err := t.reachable(); err != nil {
		return "", err
	}
	if err := t.awaitServers(ctx); err != nil {
		return "", err
	}
	if err := t.tellOfProblem(ctx); err != nil {
		return "", err
	}
	if err := t.connect(ctx); err != nil {
		return "", err
	}
	return t.loop(ctx)
}

// connect gets the provider with its credentials.
func (t *turn) connect(ctx context.Context) (err error) {
	if t.provider, err = t.agent.Provider(ctx); err != nil {
		return failureOf(err)
	}
	return nil
}

func (t *turn) loop(ctx context.Context) (session.StopReason, error) {
	for step := 0; step < t.agent.MaxIterations; step++ {
		if err := t.compactIfNear(ctx); err != nil {
			return "", err
		}
		if err := t.tellOfServers(ctx); err != nil {
			return "", err
		}
		t.choice = t.choiceNow() // options take effect on the next step
		resp, err := t.step(ctx, stepOptions{})
		if err != nil {
			return "", err
		}
		done, stop, err := t.conclude(ctx, resp)
		if err != nil || done {
			return stop, err
		}
	}
	return session.MaxTurnRequests, t.closingWords(ctx)
}

// conclude follows one model step: it runs the tools, or ends the turn.
func (t *turn) conclude(ctx context.Context, resp *model.Response) (done bool, stop session.StopReason, err error) {
	calls := resp.Message.ToolCalls()
	if len(calls) == 0 {
		if stop = stopReason(resp.Stop); stop != session.EndTurn {
			return true, stop, t.explainStop(ctx, stop)
		}
		if again, err := t.onceMore(ctx, resp); again || err != nil {
			return false, "", errors.Join(err, t.keepSteered(ctx, nil))
		}
		if t.steering.endIfIdle() {
			return true, stop, t.sayIfSilent(ctx)
		}
		return false, "", t.keepSteered(ctx, nil)
	}
	results := t.runCalls(ctx, calls)
	why := "not run: the turn ended first"
	if ctx.Err() != nil {
		why = "not run: the user cancelled the turn"
	}
	answers := resultsMessage(calls, results, why)
	return false, "", t.keepSteered(detached(ctx), &answers)
}

// keepSteered keeps the tools' results together with what the user added
// meanwhile; a provider wants both in one message. Results are kept also when
// something added cannot be read.
func (t *turn) keepSteered(ctx context.Context, answers *model.Message) error {
	m := model.Message{Role: model.RoleUser}
	if answers != nil {
		m = *answers
	}
	var unread error
	for _, add := range t.steering.take() {
		t.bound = t.bound.Min(t.boundOf(add.Owner)) // from the step on that sees the words
		parts, err := t.readContent(ctx, add.Content)
		if err != nil {
			unread = err
		}
		m.Parts = append(m.Parts, parts...)
	}
	if len(m.Parts) > 0 {
		if err := t.keep(ctx, record{Message: &m}); err != nil {
			return err
		}
	}
	return unread
}

// detached returns a context that the end of a turn does not end: for writing
// down what happened in one that was cancelled just now. The hub bounds how long
// that may take.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// sayIfSilent says in words that the model gave an empty answer, which would
// otherwise look like success.
func (t *turn) sayIfSilent(ctx context.Context) error {
	if t.said {
		return nil
	}
	return t.say(ctx, "The model gave an empty answer. Ask again, or choose another model.")
}

func (t *turn) explainStop(ctx context.Context, stop session.StopReason) error {
	switch stop {
	case session.Refusal:
		if !t.said {
			return t.say(ctx, "The model refused to answer this.")
		}
	case session.MaxTokens:
		if !t.said {
			return t.say(ctx, "The model used up its output limit before it said anything.")
		}
	}
	return nil
}

func stopReason(s model.StopReason) session.StopReason {
	switch s {
	case model.StopMaxTokens, model.StopContextWindow:
		return session.MaxTokens
	case model.StopRefusal:
		return session.Refusal
	}
	return session.EndTurn
}

// closingWords has the model sum up, streamed, when the turn has used all its
// steps.
func (t *turn) closingWords(ctx context.Context) error {
	t.said = false
	_, err := t.step(ctx, stepOptions{
		noTools: true,
		ask:     "You have used all the steps of this turn. Do not call tools. Say in a few sentences what is done, what is open, and how to go on.",
	})
	if err != nil && ctx.Err() == nil && errors.As(err, new(*model.Error)) {
		return t.say(ctx, "This turn reached its limit of model steps (max_iterations). Send another prompt to go on.")
	}
	if err == nil {
		err = t.sayIfSilent(ctx)
	}
	return err
}
