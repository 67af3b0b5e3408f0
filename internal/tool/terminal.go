package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// terminalFarewell is how long the client may take to end, hand over and
// release a terminal once its command must stop: a cancel does not wait longer.
const terminalFarewell = 2 * time.Second

// terminal is one of the client's terminals while a command runs in it.
type terminal struct {
	hand session.Terminals
	id   string
}

// runInTerminal runs a command where its user can watch it. The error is only
// about starting; the Result is complete in any case.
func (e *Env) runInTerminal(ctx context.Context, cmd command, out Sink) (Result, error) {
	t, err := e.openTerminal(ctx, cmd)
	if err != nil {
		return failure(fmt.Errorf("the client could not run the command in a terminal: %w", err)), err
	}
	content := []Content{{TerminalID: t.id}}
	out.Progress(content) // it must be shown before it is released
	o := t.run(ctx, e.limits().ClientTimeout)
	o.brief = bound(o.brief, e.limits().ModelBytes)
	return e.commandResult(cmd, o, content), nil
}

func (e *Env) openTerminal(ctx context.Context, cmd command) (terminal, error) {
	t := terminal{hand: e.Hands.Terminals}
	env := map[string]string{"GRAPNEL_SHELL": "acp"}
	ctx, cancel := e.clientContext(ctx)
	defer cancel()
	var err error
	t.id, err = t.hand.CreateTerminal(ctx, cmd.argv, cmd.dir, env, int64(e.limits().OutputBytes))
	if err != nil {
		return t, clientError(ctx, err)
	}
	return t, nil
}

// run waits for the command and takes its output. It always releases the
// terminal, and does not outlast ctx by more than terminalFarewell.
func (t terminal) run(ctx context.Context, patience time.Duration) outcome {
	exit, err := t.hand.WaitTerminal(ctx, t.id)
	if ctx.Err() != nil {
		patience = terminalFarewell
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	defer func() { _ = t.hand.ReleaseTerminal(after, t.id) }()

	var o outcome
	if ctx.Err() != nil {
		o.stopped = context.Cause(ctx)
		_ = t.hand.KillTerminal(after, t.id)
	} else if err != nil {
		o.err = fmt.Errorf("the client did not say how it ended: %w", err)
	}
	text, truncated, ended, err := t.hand.TerminalOutput(after, t.id)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("the client did not hand over the output: %w", clientError(after, err))
	}
	if ended != nil && (o.stopped != nil || o.err != nil) {
		exit = *ended
	}
	o.text, o.total, o.exit, o.signal = text, int64(len(text)), exit.Code, exit.Signal
	if truncated {
		text = "[earlier output is left out]\n" + text
	}
	o.brief = text
	return o
}
