package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/proc"
)

const (
	// DefaultTimeout is how long a command may take.
	DefaultTimeout = 10 * time.Second
	// maxAnswer bounds what a command may print: an answer is a few words.
	maxAnswer = 64 << 10
	// maxComplaint bounds what is repeated of a failing command's words.
	maxComplaint = 300
)

// Commands are the user's own programs at the points. A nil argument list is no
// hook. Each is given one JSON object and prints one, or nothing.
type Commands struct {
	None
	Before     []string // before_tool_call
	After      []string // after_tool_call
	Permitting []string // permission_request
	Finalizing []string // before_finalize
	// Dir is where they run and relative names in them start: a place the agent
	// cannot write, so never the session's.
	Dir     string
	Timeout time.Duration   // 0 means DefaultTimeout
	Procs   *proc.Custody   // may be nil
	Environ func() []string // nil means proc's own
}

var _ Points = (*Commands)(nil)

// BeforeTool implements Points.
func (c *Commands) BeforeTool(ctx context.Context, t Call, d policy.Decision) (string, error) {
	if c.Before == nil {
		return "", nil
	}
	e := about(t)
	e.Hook, e.Decision = "before_tool_call", decided(d)
	var a blocking
	if err := c.run(ctx, c.Before, e, &a); err != nil || !a.Block {
		return "", err
	}
	return reason(a.Reason, "the before_tool_call hook gave no reason"), nil
}

// AfterTool implements Points.
func (c *Commands) AfterTool(ctx context.Context, t Call, r Result) error {
	if c.After == nil {
		return nil
	}
	e := about(t)
	e.Hook, e.Result = "after_tool_call", &result{r.IsError, r.Text, r.Took.Milliseconds()}
	return c.run(ctx, c.After, e, &silent{})
}

// Permission implements Points.
func (c *Commands) Permission(ctx context.Context, t Call, d policy.Decision) (Answer, error) {
	open := Answer{Verdict: policy.Ask}
	if c.Permitting == nil {
		return open, nil
	}
	e := about(t)
	e.Hook, e.Decision = "permission_request", decided(d)
	var a answering
	if err := c.run(ctx, c.Permitting, e, &a); err != nil {
		return open, err
	}
	switch a.Answer {
	case "":
		return open, nil
	case "allow":
		return Answer{policy.Allow, reason(a.Reason, "the permission_request hook allows it")}, nil
	case "deny":
		return Answer{policy.Deny, reason(a.Reason, "the permission_request hook gave no reason")}, nil
	}
	return open, fmt.Errorf("the permission_request hook answered %q, which is neither allow nor deny; people are asked instead", quoted(a.Answer))
}

// BeforeFinalize implements Points.
func (c *Commands) BeforeFinalize(ctx context.Context, f Final) (string, error) {
	if c.Finalizing == nil {
		return "", nil
	}
	e := event{
		Version: eventVersion, Hook: "before_finalize", Session: f.Session, Turn: f.Turn, Agent: f.Agent, Owner: f.Owner,
		Cwd: f.Cwd, Mode: string(f.Mode), Final: &final{f.Text},
	}
	var a repeating
	if err := c.run(ctx, c.Finalizing, e, &a); err != nil || !a.Again {
		return "", err
	}
	return reason(a.Reason, "Look over your work once more before you finish."), nil
}

// run gives a command the event and reads its answer.
func (c *Commands) run(ctx context.Context, argv []string, e event, answer any) error {
	failed := func(format string, args ...any) error {
		return fmt.Errorf("the %s hook (%s) "+format, append([]any{e.Hook, argv[0]}, args...)...)
	}
	in, err := json.Marshal(e)
	if err != nil {
		return failed("could not be told of the call: %w", err)
	}
	out, err := c.exec(ctx, argv, in)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return failed("did not answer within %v and was ended", c.timeout())
	case err != nil:
		return failed("%w", err)
	}
	if err := read(out, answer); err != nil {
		return failed("printed something that is no answer to this point: %s", quoted(string(out)))
	}
	return nil
}

// exec runs a command to its end and returns what it printed.
func (c *Commands) exec(ctx context.Context, argv []string, in []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	out, complaint := &bounded{limit: maxAnswer}, &bounded{limit: maxComplaint}
	spec := proc.Spec{Argv: argv, Dir: c.Dir, Stdin: bytes.NewReader(in), Stdout: out, Stderr: complaint}
	if c.Environ != nil {
		spec.Env = c.Environ()
	}
	p, err := c.Procs.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	exit, err := p.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case exit.Code != 0 || exit.Signal != "":
		return nil, fmt.Errorf("failed (%s)%s", ended(exit), complaint.said())
	case out.over:
		return nil, fmt.Errorf("printed more than %d bytes", maxAnswer)
	}
	return out.kept.Bytes(), nil
}

func ended(e proc.Exit) string {
	if e.Signal != "" {
		return "ended by " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

func (c *Commands) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return DefaultTimeout
}

func reason(given, otherwise string) string {
	if text := strings.TrimSpace(given); text != "" {
		return text
	}
	return otherwise
}

// quoted is a command's words as a sentence of ours repeats them.
func quoted(s string) string { return printable.Clip(printable.Line(s), maxComplaint) }
