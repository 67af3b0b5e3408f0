package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// NameSpawnSubagent is the tool that starts subagents; a session that may have
// none does without it.
const NameSpawnSubagent = "spawn_subagent"

const (
	// maxTask bounds a subagent's task, in bytes.
	maxTask = 64 << 10
	// maxTaskTitle bounds its title, in bytes.
	maxTaskTitle = 80
)

// Task is a piece of work for a subagent.
type Task struct {
	Text  string
	Title string      // a few words on one line; never empty
	Mode  policy.Mode // at most this mode; "" for that of the session
	Tools []string    // the tools it may use; nil for all there are
}

// Spawner runs subagents.
type Spawner interface {
	// Spawn has a subagent work on a task, to its end, and returns what it said
	// last. It returns soon after ctx ends, with the subagent stopped.
	Spawn(ctx context.Context, t Task, out Sink) Result
}

type spawnSubagent struct{}

type spawnSubagentArgs struct {
	ignored
	Task  string   `json:"task"`
	Title string   `json:"title"`
	Mode  string   `json:"mode"`
	Tools []string `json:"tools"`
}

func (spawnSubagent) Spec() Spec {
	return Spec{
		Name: NameSpawnSubagent,
		Description: "Has a subagent work on a task and returns its final words. It starts with an empty conversation, so the task " +
			"has to say everything it must know and what to report. It works in the same directories under the same rules. " +
			"Several calls in one message run beside each other; give them work that does not touch the same files.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"task": {"type": "string", "description": "what to do and what to report"},
				"title": {"type": "string", "description": "the task in a few words, for the user"},
				"mode": {"type": "string", "enum": ["plan"], "description": "plan: it may only read"},
				"tools": {"type": "array", "items": {"type": "string"}, "description": "names of the tools it may use; all of yours when absent"}
			},
			"required": ["task"],
			"additionalProperties": false
		}`),
		Kind:     KindThink,
		ReadOnly: true, // what it does is judged call by call
	}
}

func (s spawnSubagent) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args spawnSubagentArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	t := Task{Text: strings.TrimSpace(args.Task), Mode: policy.Mode(args.Mode), Tools: args.Tools}
	switch {
	case env.Spawner == nil:
		return nil, errors.New("there are no subagents here; do the work yourself")
	case t.Text == "":
		return nil, errors.New(`the argument "task" is missing`)
	case len(t.Text) > maxTask:
		return nil, fmt.Errorf("the task is longer than %d KiB; put details into a file and name it", maxTask>>10)
	case t.Mode != "" && t.Mode != policy.ModePlan:
		return nil, fmt.Errorf(`mode must be "plan" or absent, not %q`, printable.Clip(args.Mode, 40))
	}
	if t.Title = title(args.Title); t.Title == "" {
		t.Title = title(t.Text)
	}
	return &Call{
		Title: "Subagent: " + t.Title, Kind: KindThink, Subject: env.subject(s.Spec()),
		Run: func(ctx context.Context, out Sink) Result {
			res := env.Spawner.Spawn(ctx, t, out)
			res.Text = bound(res.Text, env.limits().ModelBytes)
			return res
		},
	}, nil
}

// title is text as a title: one short line.
func title(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Clip(printable.Line(first), maxTaskTitle)
}
