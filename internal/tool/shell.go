package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

type shell struct{}

type shellArgs struct {
	ignored
	Command string `json:"command"`
	Cwd     string `json:"cwd"`
	Timeout number `json:"timeout_seconds"`
	Network bool   `json:"network"`
	Outside flag   `json:"outside_sandbox"`
}

func (shell) Spec() Spec {
	return Spec{
		Name: "shell",
		Description: "Runs a command with sh -c and returns its output and exit code. There is no terminal and no input. " +
			"Everything it starts ends with it, background processes included. Where commands are confined, they can write in the " +
			"session's directories and below $TMPDIR, and have no network unless you ask for it.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"command": {"type": "string", "description": "the command line for sh"},
				"cwd": {"type": "string", "description": "directory to start in; the working directory when absent"},
				"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "description": "120 when absent"},
				"network": {"type": "boolean", "description": "whether it needs other hosts, to download something for example; a person may have to allow that"},
				"outside_sandbox": {"type": "boolean", "description": "run outside the sandbox, with the user's keys, agents and sockets: only when it cannot work inside, like git push over SSH or docker; the user is always asked"}
			},
			"required": ["command"],
			"additionalProperties": false
		}`),
		Kind: KindExecute,
		Acts: true,
	}
}

func (s shell) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args shellArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if strings.TrimSpace(args.Command) == "" {
		return nil, errors.New(`the argument "command" is missing`)
	}
	if strings.ContainsRune(args.Command, 0) {
		return nil, errors.New("the command holds a NUL byte")
	}
	limits := env.limits()
	cmd := command{argv: []string{"sh", "-c", args.Command}, timeout: limits.Timeout}
	if args.Timeout != 0 {
		cmd.timeout = time.Duration(args.Timeout) * time.Second
	}
	if cmd.timeout < 0 || cmd.timeout > limits.MaxTimeout {
		return nil, fmt.Errorf("timeout_seconds must be from 1 to %d", int(limits.MaxTimeout.Seconds()))
	}
	t, err := env.resolveDir(args.Cwd)
	if err != nil {
		return nil, err
	}
	call := env.commandCall(s.Spec(), t, cmd)
	call.Title = commandTitle(args.Command)
	call.Subject.Command = args.Command
	call.Subject.Network = args.Network
	if args.Outside && env.Confine != nil {
		call.Subject.Outside = true
		call.Title = outsideTitle + call.Title
	}
	return call, nil
}

// outsideTitle begins the title of a command that is not to be confined.
const outsideTitle = "Outside the sandbox: "

// commandCall makes a call that runs a command in the directory t.
func (e *Env) commandCall(spec Spec, t *fsroot.Target, cmd command) *Call {
	cmd.dir = t.Abs
	call := e.dirCall(spec, t)
	call.Locations = nil // where it starts says nothing about what it touches
	call.Subject.Cwd = t.Abs
	call.Subject.Look = e.look
	if e.Away == nil { // nobody here knows what a pattern matches there
		call.Subject.Glob = e.expand
	}
	call.Decided = func(d policy.Decision) { cmd.confine.Decision = d }
	call.Run = func(ctx context.Context, out Sink) Result { return e.runCommand(ctx, cmd, out) }
	return call
}

// commandTitle shows a command on one line.
func commandTitle(command string) string {
	return "`" + printable.Clip(strings.Join(strings.Fields(command), " "), 120) + "`"
}
