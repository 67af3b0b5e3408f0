package native

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Ids of the config options, which are also their categories.
const (
	optionMode    = "mode"
	optionModel   = "model"
	optionThought = "thought_level"
)

type selectOption struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Category    string         `json:"category"`
	Type        string         `json:"type"`
	Current     string         `json:"currentValue"`
	Options     []selectChoice `json:"options"`
}

type selectChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// modeChoice is how a mode is shown.
func modeChoice(m policy.Mode) selectChoice {
	switch m {
	case policy.ModeAcceptEdits:
		return selectChoice{string(m), "Accept edits", "File edits inside the workspace happen without asking, and so do its builds and tests in a sandbox"}
	case policy.ModeFull:
		return selectChoice{string(m), "Full", "Nothing is asked; forbidden paths stay forbidden"}
	case policy.ModePlan:
		return selectChoice{string(m), "Plan", "Reads only; nothing is changed"}
	}
	return selectChoice{string(m), "Ask", "Asks before anything that changes something"}
}

// choose sets the options a session starts with: what was chosen earlier where
// it is still offered, the configured values elsewhere.
func (h *handle) choose(earlier map[string]string) {
	modes := h.policy.Modes()
	h.choices.set = choice{Mode: modes[0], Model: h.agent.Model}
	if m := policy.Mode(earlier[optionMode]); slices.Contains(modes, m) {
		h.choices.set.Mode = m
	}
	if m := earlier[optionModel]; slices.Contains(h.agent.Models, m) {
		h.choices.set.Model = m
	}
	if l := earlier[optionThought]; l != thoughtValue(model.LevelDefault) {
		h.choices.set.Thought = model.Level(l)
	}
	h.choices.lost = make(map[string]string)
	h.lose(optionMode, earlier[optionMode], string(h.choices.set.Mode))
	h.lose(optionModel, earlier[optionModel], h.choices.set.Model)
}

// thought is the level that holds: the chosen one where the model has it. With
// a model that has not, it waits for one that has.
func (h *handle) thought(c choice) model.Level {
	if slices.Contains(h.agent.Info(c.Model).Thinking, c.Thought) {
		return c.Thought
	}
	return model.LevelDefault
}

// configOptions are the options with their current values; only those with a
// choice to make are offered.
func (h *handle) configOptions(c choice) []selectOption {
	mode := selectOption{ID: optionMode, Name: "Mode", Category: optionMode, Type: "select", Current: string(c.Mode)}
	for _, m := range h.policy.Modes() {
		mode.Options = append(mode.Options, modeChoice(m))
	}
	list := []selectOption{mode}
	if len(h.agent.Models) > 0 {
		o := selectOption{ID: optionModel, Name: "Model", Category: optionModel, Type: "select", Current: c.Model}
		for _, m := range h.agent.Models {
			o.Options = append(o.Options, selectChoice{Value: m, Name: m})
		}
		list = append(list, o)
	}
	if levels := h.agent.Info(c.Model).Thinking; len(levels) > 0 {
		o := selectOption{ID: optionThought, Name: "Thinking", Category: optionThought, Type: "select", Current: thoughtValue(h.thought(c))}
		o.Options = append(o.Options, selectChoice{Value: thoughtValue(model.LevelDefault), Name: "Default"})
		for _, l := range levels {
			o.Options = append(o.Options, selectChoice{Value: string(l), Name: string(l)})
		}
		list = append(list, o)
	}
	return list
}

// thoughtValue names the level on the wire, where the default needs a name.
func thoughtValue(l model.Level) string {
	if l == model.LevelDefault {
		return "default"
	}
	return string(l)
}

// Setup implements session.Handle.
func (h *handle) Setup() session.Setup {
	h.skills.refresh() // a client that comes late gets the commands there are now
	return h.setup(h.choice())
}

func (h *handle) setup(c choice) session.Setup {
	return session.Setup{
		ConfigOptions: encode(h.configOptions(c)),
		Modes:         encode(h.modes(c)),
		Models:        h.models(c),
		Commands:      h.commands().Available(),
	}
}

// modes is the legacy picture of the mode option (ACP v1 SessionModeState).
func (h *handle) modes(c choice) any {
	type mode struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description,omitzero"`
	}
	state := struct {
		Current   string `json:"currentModeId"`
		Available []mode `json:"availableModes"`
	}{Current: string(c.Mode)}
	for _, m := range h.policy.Modes() {
		shown := modeChoice(m)
		state.Available = append(state.Available, mode{shown.Value, shown.Name, shown.Description})
	}
	return state
}

// models is the legacy picture of the model option.
func (h *handle) models(c choice) jsontext.Value {
	if len(h.agent.Models) == 0 {
		return nil
	}
	type entry struct {
		ID   string `json:"modelId"`
		Name string `json:"name"`
	}
	state := struct {
		Available []entry `json:"availableModels"`
		Current   string  `json:"currentModelId"`
	}{Current: c.Model}
	for _, m := range h.agent.Models {
		state.Available = append(state.Available, entry{m, m})
	}
	return encode(state)
}

// encode marshals one of the structs above, which always encode.
func encode(v any) jsontext.Value {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// Set implements session.Handle. The new value holds from the next model step
// or tool call on.
func (h *handle) Set(ctx context.Context, option, value string) (session.Setup, error) {
	before, next, err := h.change(ctx, option, value)
	if err != nil {
		return session.Setup{}, err
	}
	s := h.setup(next)
	return s, errors.Join(h.emitOptions(ctx, option, next, s), h.tellOfThought(ctx, before, next))
}

// change puts a new value on record, which may take its time, and then makes it
// hold.
func (h *handle) change(ctx context.Context, option, value string) (before, next choice, err error) {
	now := &h.choices
	now.changing.Lock()
	defer now.changing.Unlock()
	now.mu.Lock()
	before = now.set
	now.mu.Unlock()
	if next, err = h.with(before, option, value); err != nil {
		return before, next, err
	}
	if err := h.recordChange(ctx, audit.Option, option+" = "+value); err != nil {
		return before, next, err
	}
	now.mu.Lock()
	defer now.mu.Unlock()
	if before.Mode != next.Mode {
		now.tellModeChanged()
	}
	now.set = next
	delete(now.lost, option)
	return before, next, nil
}

// with returns c with one option changed, if the value is offered.
func (h *handle) with(c choice, option, value string) (choice, error) {
	for _, o := range h.configOptions(c) {
		if o.ID != option {
			continue
		}
		if !slices.ContainsFunc(o.Options, func(s selectChoice) bool { return s.Value == value }) {
			return c, session.Invalidf("%q is not one of the values of option %q", value, option)
		}
		switch option {
		case optionMode:
			c.Mode = policy.Mode(value)
		case optionModel:
			c.Model = value
		case optionThought:
			c.Thought = model.Level(value)
			if value == thoughtValue(model.LevelDefault) {
				c.Thought = model.LevelDefault
			}
		}
		return c, nil
	}
	return c, session.Invalidf("this agent has no option %q", option)
}

func (h *handle) emitOptions(ctx context.Context, option string, c choice, s session.Setup) error {
	err := h.emit(ctx, session.KindConfig, session.Live, struct {
		Kind    session.Kind   `json:"sessionUpdate"`
		Options jsontext.Value `json:"configOptions"`
	}{session.KindConfig, s.ConfigOptions})
	if err != nil || option != optionMode {
		return err
	}
	return h.emit(ctx, session.KindMode, session.Live, struct {
		Kind    session.Kind `json:"sessionUpdate"`
		Current string       `json:"currentModeId"`
	}{session.KindMode, string(c.Mode)})
}
