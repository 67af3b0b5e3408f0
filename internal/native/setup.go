package native

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/session"
)

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
		Usage:         h.usageSoFar(c),
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
func (h *handle) Set(ctx context.Context, owner, option, value string) (session.Setup, error) {
	if err := h.mayChoose(owner, option, value); err != nil {
		return session.Setup{}, err
	}
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
	if before.Mode != next.Mode || before.Elevated != next.Elevated {
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
		if !o.offers(value) {
			return c, session.Invalidf("%q is not one of the values of option %q", value, option)
		}
		c.put(option, value)
		return c, nil
	}
	return c, session.Invalidf("this agent has no option %q", option)
}

// tellOptions shows clients the options there are, where that depends on what the
// model does.
func (h *handle) tellOptions(ctx context.Context) error {
	c := h.choice()
	if len(h.agent.Info(c.Model).Thinking) > 0 {
		return nil // they know
	}
	return h.emitOptions(ctx, session.OptionReasoning, c, h.setup(c))
}

func (h *handle) emitOptions(ctx context.Context, option string, c choice, s session.Setup) error {
	err := h.emit(ctx, session.KindConfig, session.Live, struct {
		Kind    session.Kind   `json:"sessionUpdate"`
		Options jsontext.Value `json:"configOptions"`
	}{session.KindConfig, s.ConfigOptions})
	if err != nil || option != session.OptionMode {
		return err
	}
	return h.emit(ctx, session.KindMode, session.Live, struct {
		Kind    session.Kind `json:"sessionUpdate"`
		Current string       `json:"currentModeId"`
	}{session.KindMode, string(c.Mode)})
}
