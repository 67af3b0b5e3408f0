package native

import (
	"context"
	"fmt"
	"maps"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// tellOfThought says that a new model does not think at the level that held.
func (h *handle) tellOfThought(ctx context.Context, before, now choice) error {
	was := h.thought(before)
	if before.Model == now.Model || was == h.thought(now) || was == model.LevelDefault {
		return nil
	}
	text := fmt.Sprintf("%s does not offer the level %s. It holds again with a model that does.", now.Model, was)
	return h.sink.Emit(ctx, notice(h.id, "info", "Thinking is at its default", text))
}

// lose notes that an option chosen earlier is not offered any more: the agent's
// configuration has been narrowed since.
func (h *handle) lose(option, was, now string) {
	if was != "" && was != now {
		h.choices.lost[option] = fmt.Sprintf("The %s %s is not offered any more; the session is at %s.", option, was, now)
	}
}

// tellOfLost shows at the start of a turn what became of such options. It is
// said once, also over restarts.
func (t *turn) tellOfLost(ctx context.Context) error {
	t.choices.mu.Lock()
	lost := maps.Clone(t.choices.lost)
	t.choices.mu.Unlock()
	told := maps.Clone(t.past.told)
	for _, option := range []string{session.OptionMode, session.OptionModel} {
		key := "option " + option
		text, is := lost[option]
		switch {
		case !is:
			delete(told, key)
			continue
		case told[key] == text:
			continue
		case told == nil:
			told = make(map[string]string)
		}
		told[key] = text
		if err := t.sink.Emit(ctx, notice(t.id, "warning", "A choice is gone", text)); err != nil {
			return err
		}
	}
	if maps.Equal(told, t.past.told) {
		return nil
	}
	return t.keep(ctx, record{Told: &told})
}
