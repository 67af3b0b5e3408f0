package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// clientTerminals records what a client is asked; what is nil works.
type clientTerminals struct {
	calls  []string
	create func(context.Context) error
	wait   func(context.Context) (session.TerminalExit, error)
	output func(context.Context) (string, bool, *session.TerminalExit, error)
}

func (c *clientTerminals) CreateTerminal(ctx context.Context, argv []string, cwd string, env map[string]string, limit int64) (string, error) {
	c.calls = append(c.calls, fmt.Sprintf("create %q GRAPNEL_SHELL=%s limit=%d", argv, env["GRAPNEL_SHELL"], limit))
	if c.create != nil {
		return "", c.create(ctx)
	}
	return "t1", nil
}

func (c *clientTerminals) TerminalOutput(ctx context.Context, id string) (string, bool, *session.TerminalExit, error) {
	c.calls = append(c.calls, "output "+id)
	if c.output != nil {
		return c.output(ctx)
	}
	return "hello\n", false, nil, nil
}

func (c *clientTerminals) WaitTerminal(ctx context.Context, id string) (session.TerminalExit, error) {
	c.calls = append(c.calls, "wait "+id)
	if c.wait != nil {
		return c.wait(ctx)
	}
	code := 0
	return session.TerminalExit{Code: &code}, nil
}

func (c *clientTerminals) KillTerminal(_ context.Context, id string) error {
	c.calls = append(c.calls, "kill "+id)
	return nil
}

func (c *clientTerminals) ReleaseTerminal(_ context.Context, id string) error {
	c.calls = append(c.calls, "release "+id)
	return nil
}

// T6: a program and its arguments, not a line of shell as the program.
func TestT6CommandsInTheClientsTerminal(t *testing.T) {
	env := newEnv(t, nil)
	hand := &clientTerminals{}
	env.Hands.Terminals = hand
	out := &recorder{}
	res := prepare(t, env, shell{}, `{"command":"echo hello | cat"}`).Run(t.Context(), out)
	if res.IsError || res.Text != "hello\n[exit code 0]" || res.Content[0].TerminalID != "t1" {
		t.Errorf("result %+v", res)
	}
	if len(out.shown) != 1 || out.shown[0][0].TerminalID != "t1" {
		t.Errorf("shown %+v, want the terminal while it runs", out.shown)
	}
	want := []string{`create ["sh" "-c" "echo hello | cat"] GRAPNEL_SHELL=acp limit=524288`, "wait t1", "output t1", "release t1"}
	if diff := cmp.Diff(want, hand.calls); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTerminalEnds(t *testing.T) {
	never := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	code, killed := 7, session.TerminalExit{Signal: "SIGKILL"}
	for name, tc := range map[string]struct {
		hand  clientTerminals
		input string
		want  string
		calls string // the last ones
	}{
		"exit code": {
			clientTerminals{wait: func(context.Context) (session.TerminalExit, error) { return session.TerminalExit{Code: &code}, nil }},
			`{"command":"x"}`, "hello\n[exit code 7]", "output t1 release t1",
		},
		"earlier output gone": {
			clientTerminals{output: func(context.Context) (string, bool, *session.TerminalExit, error) { return "end\n", true, nil, nil }},
			`{"command":"x"}`, "[earlier output is left out]\nend\n[exit code 0]", "release t1",
		},
		"timeout": {
			clientTerminals{
				wait: func(ctx context.Context) (session.TerminalExit, error) { return session.TerminalExit{}, never(ctx) },
				output: func(context.Context) (string, bool, *session.TerminalExit, error) {
					return "begun\n", false, &killed, nil
				},
			},
			`{"command":"x","timeout_seconds":1}`, "begun\n[ended by its timeout of 1s", "kill t1 output t1 release t1",
		},
		"wait fails": {
			clientTerminals{wait: func(context.Context) (session.TerminalExit, error) {
				return session.TerminalExit{}, errors.New("gone")
			}},
			`{"command":"x"}`, "the client did not say how it ended: gone", "output t1 release t1",
		},
		"output never comes": {
			clientTerminals{output: func(ctx context.Context) (string, bool, *session.TerminalExit, error) {
				return "", false, nil, never(ctx)
			}},
			`{"command":"x"}`, "did not hand over the output: it did not answer in time", "release t1",
		},
		"L14 create never answers": {
			clientTerminals{create: never},
			`{"command":"x"}`, "it did not answer in time", "limit=524288",
		},
		"create refused": {
			clientTerminals{create: func(context.Context) error { return errors.New("not today") }},
			`{"command":"x"}`, "could not run the command in a terminal: not today", "limit=524288",
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnv(t, nil)
			env.Limits.ClientTimeout = 50 * time.Millisecond
			env.Hands.Terminals = &tc.hand
			res := prepare(t, env, shell{}, tc.input).Run(t.Context(), &recorder{})
			if !strings.Contains(res.Text, tc.want) {
				t.Errorf("result %q, want %q", res.Text, tc.want)
			}
			if calls := strings.Join(tc.hand.calls, " "); !strings.HasSuffix(calls, tc.calls) {
				t.Errorf("calls %s, want %s at the end", calls, tc.calls)
			}
		})
	}
}

// A client that offered terminals and does not serve them costs nothing but
// the question (T6): the command runs here.
func TestTerminalNotServed(t *testing.T) {
	env := newEnv(t, nil)
	env.Hands.Terminals = &clientTerminals{create: func(context.Context) error {
		return &acp.Error{Code: acp.CodeMethodNotFound, Message: "terminal/create"}
	}}
	if res := run(t, env, shell{}, `{"command":"echo here"}`); res.Text != "here\n[exit code 0]" {
		t.Errorf("result %+v", res)
	}
}

func TestTerminalCancelDoesNotWait(t *testing.T) {
	env := newEnv(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	hand := &clientTerminals{}
	hand.wait = func(ctx context.Context) (session.TerminalExit, error) {
		cancel()
		<-ctx.Done()
		return session.TerminalExit{}, ctx.Err()
	}
	env.Hands.Terminals = hand
	res := prepare(t, env, shell{}, `{"command":"x"}`).Run(ctx, &recorder{})
	if !res.IsError || !strings.Contains(res.Text, "[cancelled") || !slices.Contains(hand.calls, "kill t1") || !slices.Contains(hand.calls, "release t1") {
		t.Errorf("result %+v, calls %q", res, hand.calls)
	}
}
