package native

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/command"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// doing is what a slash command does in place of a prompt: one of the two. args is
// what followed its name.
type doing struct {
	// beside answers at once, also while a turn runs: it keeps off what the
	// goroutine of the turn owns.
	beside func(h *handle, ctx context.Context, by session.Commanding, args string) (session.CommandDone, error)
	// inTurn is a turn of its own.
	inTurn func(t *turn, ctx context.Context, args string) (session.StopReason, error)
}

type slashCommand = command.Command[doing]

// builtIns are the commands of every native session, in the order clients show
// them.
func builtIns() []slashCommand {
	own := func(name, hint, description string, do doing) slashCommand {
		return slashCommand{Name: name, Hint: hint, Description: description, Source: command.BuiltIn, Run: do}
	}
	return []slashCommand{
		own("help", "", "List what you can type after a slash", doing{beside: (*handle).help}),
		own("status", "", "Say what this session is, what it is set to and what it does now", doing{beside: (*handle).status}),
		own("model", "name", "Show the models there are, or change to another", doing{beside: setting(session.OptionModel)}),
		own("think", "level", "Show how much the model thinks, or change it", doing{beside: setting(session.OptionThought)}),
		own("mode", "name", "Show what is done without asking, or change it", doing{beside: setting(session.OptionMode)}),
		own("usage", "", "Show how many tokens this session has used, and what they cost", doing{beside: (*handle).tellUsage}),
		own("compact", "", "Shorten the conversation by a summary, so that it fits the model's window again", doing{inTurn: (*turn).compactNow}),
		own("approvals", "revoke N or revoke all", "List what you have always allowed in this session, or take it back", doing{beside: (*handle).approvals}),
		own("stop", "", "Stop what runs now, and what waits", doing{beside: (*handle).stop}),
		own("title", "words", "Name this session", doing{beside: (*handle).retitle}),
		own("reset", "", "Have the model forget the conversation so far", doing{inTurn: (*turn).reset}),
		own("new", "", "Begin a new conversation here, without the old title", doing{inTurn: (*turn).startAnew}),
	}
}

// commands are those a client sees and a prompt can mean.
func (h *handle) commands() *command.Set[doing] {
	return command.New(append(builtIns(), skillCommands(h.skills.catalogue())...)...)
}

// commandsUpdate is ACP AvailableCommandsUpdate (v1).
type commandsUpdate struct {
	Kind     session.Kind   `json:"sessionUpdate"`
	Commands jsontext.Value `json:"availableCommands"`
}

// Command implements session.Commander.
func (h *handle) Command(content []jsontext.Value) (session.Command, bool) {
	if len(content) == 0 {
		return session.Command{}, false
	}
	var block textBlock
	if json.Unmarshal(content[0], &block) != nil || block.Type != "" && block.Type != "text" {
		return session.Command{}, false
	}
	c, args, ok := h.commandOf(block.Text, len(content))
	if !ok || c.Run.beside == nil {
		return session.Command{}, ok
	}
	return session.Command{Run: func(ctx context.Context, by session.Commanding) (session.CommandDone, error) {
		return h.runBeside(ctx, c, by, args)
	}}, true
}

// commandOf returns the command that a prompt means whose first of n parts is
// text, and what follows the name. A subagent's task is no person's command.
func (h *handle) commandOf(text string, n int) (c slashCommand, args string, ok bool) {
	if h.kin != nil || !strings.HasPrefix(strings.TrimSpace(text), "/") {
		return c, "", false
	}
	c, args, ok = h.commands().Find(text)
	if ok && c.Source == command.BuiltIn && n > 1 {
		return c, "", false // those act on words alone
	}
	return c, args, ok
}

func (h *handle) runBeside(ctx context.Context, c slashCommand, by session.Commanding, args string) (session.CommandDone, error) {
	done, err := c.Run.beside(h, ctx, by, args)
	done.Text = h.redact.Replace(done.Text)
	return done, h.cleanError(err)
}

// commandIn is the same for the parts of the turn's prompt.
func (t *turn) commandIn(parts []model.Part) (c slashCommand, args string, ok bool) {
	if len(parts) == 0 || !parts[0].IsText() {
		return c, "", false
	}
	return t.commandOf(parts[0].Text, len(parts))
}

// obey does a command that came to an idle session.
func (t *turn) obey(ctx context.Context, c slashCommand, args string) (session.StopReason, error) {
	if c.Run.inTurn != nil {
		return c.Run.inTurn(t, ctx, args)
	}
	by := session.Commanding{Role: t.Role, Owner: t.Owner, Status: session.Status{Active: true}}
	done, err := t.runBeside(ctx, c, by, args)
	if err != nil {
		return "", err
	}
	return session.EndTurn, t.say(ctx, done.Text)
}

// answered is the whole of what most commands do.
func answered(text string) (session.CommandDone, error) { return session.CommandDone{Text: text}, nil }
