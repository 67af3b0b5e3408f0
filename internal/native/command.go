package native

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/command"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// runCommand does what a slash command asks for in place of a prompt. args is
// what followed its name.
type runCommand func(t *turn, ctx context.Context, args string) (session.StopReason, error)

// builtIns are the commands of every native session, in the order clients show
// them.
func builtIns() []command.Command[runCommand] {
	own := func(name, hint, description string, run runCommand) command.Command[runCommand] {
		return command.Command[runCommand]{Name: name, Hint: hint, Description: description, Source: command.BuiltIn, Run: run}
	}
	return []command.Command[runCommand]{
		own("compact", "", "Shorten the conversation by a summary, so that it fits the model's window again", (*turn).compactNow),
		own("usage", "", "Show how many tokens this session has used, and what they cost", (*turn).tellUsage),
		own("approvals", "revoke N or revoke all", "List what you have always allowed in this session, or take it back", (*turn).approvals),
	}
}

// commands are those a client sees and a prompt can mean.
func (h *handle) commands() *command.Set[runCommand] {
	return command.New(append(builtIns(), skillCommands(h.skills.catalogue())...)...)
}

// commandsUpdate is ACP AvailableCommandsUpdate (v1).
type commandsUpdate struct {
	Kind     session.Kind   `json:"sessionUpdate"`
	Commands jsontext.Value `json:"availableCommands"`
}

// commandIn returns the command a prompt means, and what follows its name.
func (t *turn) commandIn(parts []model.Part) (c command.Command[runCommand], args string, ok bool) {
	if len(parts) == 0 || !parts[0].IsText() {
		return c, "", false
	}
	c, args, ok = t.commands().Find(parts[0].Text)
	if ok && c.Source == command.BuiltIn && len(parts) > 1 {
		return c, "", false // those act on words alone
	}
	return c, args, ok
}

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

// tellUsage says what the session has used so far.
func (t *turn) tellUsage(ctx context.Context, _ string) (session.StopReason, error) {
	u := t.past.usage
	text := fmt.Sprintf("This session has used %d input tokens (%d of them cached) and %d output tokens.",
		u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.Output)
	if cost := t.past.cost.String(); cost != "" {
		text += " That is " + cost + "."
	}
	if size := t.agent.Info(t.choice.Model).ContextWindow; size > 0 {
		text += fmt.Sprintf(" The last step filled %d of the model's %d tokens.", t.past.window, size)
	}
	return session.EndTurn, t.say(ctx, text)
}
