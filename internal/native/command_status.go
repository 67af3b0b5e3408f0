package native

import (
	"context"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// help lists the commands.
func (h *handle) help(context.Context, session.Commanding, string) (session.CommandDone, error) {
	h.skills.refresh()
	var b strings.Builder
	for _, c := range h.commands().List() {
		name := c.Name
		if c.Hint != "" {
			name += " [" + c.Hint + "]"
		}
		fmt.Fprintf(&b, "- `/%s` %s\n", printable.Line(name), printable.Short(printable.Line(c.Description), skillDescription))
	}
	return answered(b.String())
}

// status says what the session is and does.
func (h *handle) status(_ context.Context, by session.Commanding, _ string) (session.CommandDone, error) {
	c, used := h.choice(), *h.used.Load()
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "- %s: %s\n", name, fmt.Sprintf(format, args...))
	}
	line("Now", "%s", doingNow(by.Status))
	line("Session", "`%s`", h.id)
	line("Agent", "%s", h.agent.Alias)
	line("Directory", "`%s`", printable.Visible(h.info.Cwd))
	for _, o := range h.configOptions(c) {
		line(o.Name, "%s", o.Current)
	}
	if size := h.agent.Info(c.Model).ContextWindow; size > 0 {
		line("Window", "%d of %d tokens (%d %%)", used.window, size, used.window*100/uint64(size))
	}
	line("Used", "%s", used.words())
	if n := len(h.grants.now()); n > 0 {
		line("Always allowed", "%d (`/approvals` lists them)", n)
	}
	return answered(b.String())
}

// doingNow is what a session does, in words.
func doingNow(s session.Status) string {
	now := "idle"
	switch {
	case s.Waiting:
		now = "waits for an answer of yours"
	case s.Running:
		now = "at work"
	}
	if s.Queued > 0 {
		now += ", " + prompts(s.Queued) + " waiting"
	}
	return now
}

func prompts(n int) string {
	if n == 1 {
		return "1 prompt"
	}
	return fmt.Sprintf("%d prompts", n)
}

// words say what was used.
func (t tally) words() string {
	u := t.usage
	text := fmt.Sprintf("%d input tokens (%d of them cached) and %d output tokens",
		u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.Output)
	if cost := t.cost.String(); cost != "" {
		text += ", about " + cost
	}
	return text
}

// tellUsage says what the session has used so far.
func (h *handle) tellUsage(context.Context, session.Commanding, string) (session.CommandDone, error) {
	used, model := *h.used.Load(), h.choice().Model
	text := "This session has used " + used.words() + "."
	info := h.agent.Info(model)
	if info.ContextWindow > 0 {
		text += fmt.Sprintf(" The last step filled %d of the model's %d tokens.", used.window, info.ContextWindow)
	}
	if info.Price == nil && used.usage.Output > 0 {
		text += fmt.Sprintf(" What %s costs is not known; prices.toml in the data directory can say it.", model)
	}
	return answered(text)
}

// stop has the hub cancel everything.
func (h *handle) stop(_ context.Context, by session.Commanding, _ string) (session.CommandDone, error) {
	s := by.Status
	if !s.Running && s.Queued == 0 {
		return answered("Nothing is running.")
	}
	text := "Stopped."
	if s.Queued > 0 {
		text = "Stopped, and " + prompts(s.Queued) + " that waited will not run."
	}
	return session.CommandDone{Text: text, Stop: true}, nil
}
