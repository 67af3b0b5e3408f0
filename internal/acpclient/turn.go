package acpclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// errCancelled is why a question goes away with its turn.
var errCancelled = errors.New("the turn was cancelled")

// errStuck is how a turn ends that would not.
var errStuck = fmt.Errorf("%w: the agent did not end the turn when it was cancelled", ErrInterrupted)

// prompt runs a turn and returns how it ended: nil, or one of the Err values.
// When ctx ends, the turn is cancelled and its end awaited for a while.
func (c *client) prompt(ctx context.Context, text string) error {
	c.turnStarts()
	defer c.askAgain()
	ended := make(chan struct{})
	defer close(ended)
	call, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	answer, err := c.send(call, text, func() { go c.watch(ctx, ended, giveUp) })
	switch {
	case err != nil && ctx.Err() != nil && !c.ended():
		return errStuck
	case err != nil:
		err = c.advise(c.gone(err))
		if errors.Is(err, ErrFailed) {
			return err
		}
		return fmt.Errorf("%w: %w", ErrFailed, err)
	}
	c.view.turnEnds(answer.StopReason)
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return c.verdict(answer.StopReason)
}

// send sends a prompt and waits for the answer. sent is called in between, so
// that a cancel comes after what it cancels.
func (c *client) send(ctx context.Context, text string, sent func()) (*v1.PromptResponse, error) {
	pending, err := c.conn.Go(ctx, acp.ID{}, v1.MethodSessionPrompt, &v1.PromptRequest{
		SessionID: c.session,
		Prompt:    []v1.ContentBlock{{Text: &v1.TextContent{Text: text}}},
	})
	if err != nil {
		return nil, err
	}
	sent()
	result, err := pending.Wait(ctx)
	if err != nil {
		return nil, err
	}
	answer := new(v1.PromptResponse)
	if err := json.Unmarshal(result, answer); err != nil {
		return nil, fmt.Errorf("read the end of the turn: %w", err)
	}
	return answer, nil
}

// verdict is what the end of a turn means to a script.
func (c *client) verdict(reason v1.StopReason) error {
	c.mu.Lock()
	denied := c.denied
	c.mu.Unlock()
	switch reason {
	case v1.StopReasonEndTurn:
		if denied {
			return ErrDenied
		}
		return nil
	case v1.StopReasonRefusal:
		return ErrRefused
	case v1.StopReasonMaxTokens, v1.StopReasonMaxTurnRequests:
		return fmt.Errorf("%w: %s", ErrCapped, reason)
	}
	return fmt.Errorf("%w: the turn ended with %s", ErrFailed, reason)
}

// watch cancels the turn when ctx ends, and gives it up when it does not end
// then.
func (c *client) watch(ctx context.Context, ended <-chan struct{}, giveUp func()) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	c.cancel()
	late, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	select {
	case <-ended:
	case <-late.Done():
		giveUp()
	}
}

func (c *client) turnStarts() {
	c.view.turnStarts()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied = false
}

// askAgain lets questions through that are not of a cancelled turn.
func (c *client) askAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asking.Err() != nil {
		c.asking, c.withdraw = context.WithCancelCause(context.Background())
	}
}

// cancel cancels the running turn: the agent is told, and then all its questions
// are answered as cancelled, so that it does not take these for a no.
func (c *client) cancel() {
	ctx, stop := context.WithTimeout(context.Background(), farewell)
	defer stop()
	_ = c.agent.Cancel(ctx, &v1.CancelNotification{SessionID: c.session}) // else the turn is given up
	c.mu.Lock()
	defer c.mu.Unlock()
	c.withdraw(errCancelled)
}
