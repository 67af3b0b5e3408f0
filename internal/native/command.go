package native

import (
	"context"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// command is something a prompt asks of Grapnel itself rather than of the
// model: a slash and its name, and nothing else.
type command struct {
	name, description string
	run               func(t *turn, ctx context.Context) (session.StopReason, error)
}

// commands are those of a native session, in the order clients show them.
func commands() []command {
	return []command{
		{"compact", "Shorten the conversation by a summary, so that it fits the model's window again", (*turn).compactNow},
		{"usage", "Show how many tokens this session has used, and what they cost", (*turn).tellUsage},
		{"grants", "List what you have always allowed in this session", (*turn).tellGrants},
		{"revoke", "Be asked again about everything you have always allowed in this session", (*turn).revokeGrants},
	}
}

// availableCommand is ACP AvailableCommand.
type availableCommand struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

func availableCommands() []availableCommand {
	var list []availableCommand
	for _, c := range commands() {
		list = append(list, availableCommand{c.name, c.description})
	}
	return list
}

// commandIn returns the command a prompt consists of, if it does.
func commandIn(parts []model.Part) (command, bool) {
	if len(parts) != 1 || !parts[0].IsText() {
		return command{}, false
	}
	name, slash := strings.CutPrefix(strings.TrimSpace(parts[0].Text), "/")
	for _, c := range commands() {
		if slash && name == c.name {
			return c, true
		}
	}
	return command{}, false
}

// compactNow compacts because the user asked for it.
func (t *turn) compactNow(ctx context.Context) (session.StopReason, error) {
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
func (t *turn) tellUsage(ctx context.Context) (session.StopReason, error) {
	u := t.past.usage
	text := fmt.Sprintf("This session has used %d input tokens (%d of them cached) and %d output tokens.",
		u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.Output)
	if t.past.cost > 0 {
		text += fmt.Sprintf(" That is about %.2f USD.", t.past.cost)
	}
	if size := t.agent.Info(t.choice.Model).ContextWindow; size > 0 {
		text += fmt.Sprintf(" The last step filled %d of the model's %d tokens.", t.past.window, size)
	}
	return session.EndTurn, t.say(ctx, text)
}

// tellGrants lists what the user has allowed for the whole session.
func (t *turn) tellGrants(ctx context.Context) (session.StopReason, error) {
	t.mu.Lock()
	grants := t.grants
	t.mu.Unlock()
	if len(grants) == 0 {
		return session.EndTurn, t.say(ctx, "Nothing is always allowed in this session.")
	}
	var text strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&text, "- %s\n", g.Label)
	}
	return session.EndTurn, t.say(ctx, text.String()+"\n/revoke takes all of it back.")
}

// revokeGrants takes back what the user has allowed for the whole session.
func (t *turn) revokeGrants(ctx context.Context) (session.StopReason, error) {
	if err := t.setGrants(ctx, func([]policy.Grant) []policy.Grant { return nil }); err != nil {
		return "", err
	}
	return session.EndTurn, t.say(ctx, "Nothing is always allowed in this session any more.")
}
