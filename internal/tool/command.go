package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// command is a program to run.
type command struct {
	argv    []string
	dir     string
	env     []string // added to the environment of commands
	timeout time.Duration
	quiet   bool        // runs on the host, unseen, also when the client has terminals
	confine Confinement // its Decision comes with Call.Decided
}

// outcome is how a command went.
type outcome struct {
	text  string // output for people, whole or head and tail
	brief string // the same within Limits.ModelBytes, for the model
	total int64  // bytes of output there were
	exit  *int
	// signal is what ended it, "" when it exited by itself.
	signal string
	// stopped is why we ended it, nil when we did not.
	stopped error
	// err is a failure of running it, not of the command.
	err error
}

// errTimeout is the cause of a command's end by its own limit.
var errTimeout = errors.New("it ran into its timeout")

// runCommand runs a command where commands run: in the client's terminal, or
// on the host, confined where there is a sandbox.
func (e *Env) runCommand(ctx context.Context, cmd command, out Sink) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, cmd.timeout, errTimeout)
	defer cancel()
	if e.Away != nil {
		res, err := e.runInTerminal(ctx, cmd, out)
		if notServed(err) {
			return failure(orGone(err))
		}
		return res
	}
	if e.Hands.Terminals != nil && e.Confine == nil && !cmd.quiet {
		res, err := e.runInTerminal(ctx, cmd, out)
		if !notServed(err) {
			return res
		}
	}
	o := e.runOnHost(ctx, cmd, out)
	return e.commandResult(cmd, o, []Content{{Text: fenced(o.text)}})
}

func (e *Env) runOnHost(ctx context.Context, cmd command, out Sink) outcome {
	env := e.ShellEnv
	if env == nil {
		env = proc.Environ(os.Environ())
	}
	output := newLive(out, e.limits().OutputBytes)
	spec := proc.Spec{
		Argv:   cmd.argv,
		Dir:    cmd.dir,
		Env:    append(env[:len(env):len(env)], cmd.env...),
		Stdout: output,
		Stderr: output,
	}
	if e.Confine != nil {
		var err error
		if spec, err = e.Confine(ctx, cmd.confine, spec); err != nil {
			return outcome{err: err}
		}
	}
	p, err := e.Procs.Start(ctx, spec)
	if err != nil {
		return outcome{err: err}
	}
	exit, err := p.Wait()
	o := outcome{signal: exit.Signal, err: err}
	o.text, o.brief, o.total = output.finish(e.limits().ModelBytes)
	if exit.Signal == "" {
		o.exit = &exit.Code
	}
	if ctx.Err() != nil {
		o.stopped = context.Cause(ctx)
	}
	return o
}

// commandResult words the outcome for the model.
func (e *Env) commandResult(cmd command, o outcome, content []Content) Result {
	if o.text == "" && o.total == 0 && len(content) > 0 && content[0].TerminalID == "" {
		content = nil
	}
	text := o.brief
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text == "" {
		text = "[no output]\n"
	}
	return Result{
		Text:    text + "[" + o.words(cmd) + "]",
		Content: content,
		RawOutput: raw(struct {
			ExitCode *int   `json:"exitCode,omitzero"`
			Signal   string `json:"signal,omitzero"`
			TimedOut bool   `json:"timedOut,omitzero"`
			Bytes    int64  `json:"outputBytes"`
		}{o.exit, o.signal, errors.Is(o.stopped, errTimeout), o.total}),
		IsError: o.err != nil || o.stopped != nil || o.exit == nil || *o.exit != 0,
	}
}

// words says how the command ended, in a few words.
func (o outcome) words(cmd command) string {
	var how string
	switch {
	case errors.Is(o.stopped, errTimeout):
		how = fmt.Sprintf("ended by its timeout of %v, with everything it had started", cmd.timeout)
	case o.stopped != nil:
		how = "cancelled, with everything it had started"
	case o.exit != nil:
		how = fmt.Sprintf("exit code %d", *o.exit)
	case o.signal != "":
		how = "ended by " + o.signal
	default:
		how = "did not run"
	}
	if o.err != nil {
		how += "; " + o.err.Error()
	}
	return how
}
