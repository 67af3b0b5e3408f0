package acpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/readproof"
)

// handler answers the agent. Only what was announced is there.
func (c *client) handler() acp.Handler {
	h := &v1.Client{SessionUpdate: c.update, RequestPermission: c.permission}
	if c.opts.Files {
		h.ReadTextFile, h.WriteTextFile = c.hands.ReadTextFile, c.hands.WriteTextFile
	}
	if c.opts.Terminals {
		h.CreateTerminal, h.TerminalOutput = c.hands.CreateTerminal, c.hands.TerminalOutput
		h.WaitForTerminalExit, h.KillTerminal = c.hands.WaitForTerminalExit, c.hands.KillTerminal
		h.ReleaseTerminal = c.hands.ReleaseTerminal
	}
	if c.forms {
		h.CreateElicitation = c.elicit
	}
	return h.Handler()
}

// permission answers session/request_permission.
func (c *client) permission(ctx context.Context, req *v1.RequestPermissionRequest) (*v1.RequestPermissionResponse, error) {
	facts, heading := c.view.facts(&req.ToolCall)
	unproven := c.prove(facts)
	if once := offered(req.Options, v1.PermissionOptionKindAllowOnce); unproven == nil && once >= 0 {
		c.view.say(dim("  allowed, since it only reads in this directory: " + heading))
		return selected(req.Options[once]), nil
	}
	if unproven == nil {
		unproven = errors.New("it cannot be allowed for this once only")
	}
	chosen, err := c.ask(ctx, permissionQuestion(req, facts, heading, unproven))
	switch {
	case err == nil:
		return selected(req.Options[chosen]), nil
	case errors.Is(err, errCancelled):
		return cancelled(), nil
	case errors.Is(err, errNobody), errors.Is(err, errDismissed):
		return c.deny(req, heading, unproven, err), nil
	}
	c.view.say(dim("  the question was withdrawn: " + heading))
	return nil, err
}

// prove returns why a call is not proven to read in the directory only. Paths of
// an agent that works elsewhere are none of this machine.
func (c *client) prove(facts readproof.Call) error {
	if c.opts.Dial != nil && !c.opts.Files {
		return errors.New("the agent works elsewhere, where nothing can be proven")
	}
	return readproof.Check(c.hands.Root(), facts)
}

// ask puts a question, until the agent withdraws it or its turn is cancelled.
func (c *client) ask(ctx context.Context, q question) (int, error) {
	c.mu.Lock()
	asking := c.asking
	c.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(asking, func() { cancel(context.Cause(asking)) })
	defer stop()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	return c.person.choose(ctx, q)
}

// deny answers no: once rather than always, and cancelled only where no such
// answer is offered.
func (c *client) deny(req *v1.RequestPermissionRequest, heading string, unproven, why error) *v1.RequestPermissionResponse {
	if errors.Is(why, errNobody) {
		c.mu.Lock()
		c.denied = true
		c.mu.Unlock()
		c.view.say(warn(fmt.Sprintf("  denied, since %v: %s (%s)", errNobody, heading, printable.Line(unproven.Error()))))
	}
	for _, kind := range []v1.PermissionOptionKind{v1.PermissionOptionKindRejectOnce, v1.PermissionOptionKindRejectAlways} {
		if i := offered(req.Options, kind); i >= 0 {
			return selected(req.Options[i])
		}
	}
	return cancelled()
}

// offered returns the first option of a kind, -1 for none.
func offered(options []v1.PermissionOption, kind v1.PermissionOptionKind) int {
	return slices.IndexFunc(options, func(o v1.PermissionOption) bool { return o.Kind == kind })
}

func selected(o v1.PermissionOption) *v1.RequestPermissionResponse {
	return &v1.RequestPermissionResponse{Outcome: v1.RequestPermissionOutcome{Selected: &v1.SelectedPermissionOutcome{OptionID: o.OptionID}}}
}

func cancelled() *v1.RequestPermissionResponse {
	return &v1.RequestPermissionResponse{Outcome: v1.RequestPermissionOutcome{Cancelled: &v1.RequestPermissionOutcomeCancelled{}}}
}
