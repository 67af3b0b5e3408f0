package native

import (
	"slices"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Values of the options that are no mode, model or level.
const (
	outputFull      = "full"
	outputShort     = "short"
	outputOff       = "off"
	reasoningShown  = "shown"
	reasoningHidden = "hidden"
	usageFull       = "full"
	usageTokens     = "tokens"
	usageOff        = "off"
	elevatedAsk     = "ask"
	elevatedOff     = "off"
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

// offers reports whether a value is one of the option's.
func (o *selectOption) offers(value string) bool {
	return slices.ContainsFunc(o.Options, func(s selectChoice) bool { return s.Value == value })
}

// choice is what each of the options is set to.
type choice struct {
	Mode    policy.Mode
	Model   string
	Thought model.Level
	// The rest hold as far as they are offered; "" is the first of the values.
	Output, Reasoning, Usage, Elevated string
}

// field is where a choice keeps an option that is a word; nil for the others.
func (c *choice) field(option string) *string {
	switch option {
	case session.OptionModel:
		return &c.Model
	case session.OptionOutput:
		return &c.Output
	case session.OptionReasoning:
		return &c.Reasoning
	case session.OptionUsage:
		return &c.Usage
	case session.OptionElevated:
		return &c.Elevated
	}
	return nil
}

// put sets an option to a value.
func (c *choice) put(option, value string) {
	switch option {
	case session.OptionMode:
		c.Mode = policy.Mode(value)
	case session.OptionThought:
		c.Thought = model.Level(value)
		if value == thoughtValue(model.LevelDefault) {
			c.Thought = model.LevelDefault
		}
	default:
		if field := c.field(option); field != nil {
			*field = value
		}
	}
}

// choose sets the options a session starts with: what was chosen earlier where
// it is still offered, the configured values elsewhere.
func (h *handle) choose(earlier map[string]string) {
	modes := h.policy.Modes()
	h.choices.set = choice{Mode: modes[0], Model: h.agent.Model}
	for option, value := range earlier {
		h.choices.set.put(option, value)
	}
	if !slices.Contains(modes, h.choices.set.Mode) {
		h.choices.set.Mode = modes[0]
	}
	if !slices.Contains(h.agent.Models, h.choices.set.Model) {
		h.choices.set.Model = h.agent.Model
	}
	h.choices.lost = make(map[string]string)
	h.lose(session.OptionMode, earlier[session.OptionMode], string(h.choices.set.Mode))
	h.lose(session.OptionModel, earlier[session.OptionModel], h.choices.set.Model)
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
	info := h.agent.Info(c.Model)
	list := []selectOption{h.modeOption(c)}
	if len(h.agent.Models) > 0 {
		list = append(list, h.modelOption(c))
	}
	if len(info.Thinking) > 0 {
		list = append(list, thoughtOption(info.Thinking, h.thought(c)))
	}
	list = append(list, display(session.OptionOutput, "Tool output", "How much of what tools put out is shown; the model gets all of it", c.Output,
		selectChoice{outputFull, "Full", "As it comes"},
		selectChoice{outputShort, "Short", "The first lines"},
		selectChoice{outputOff, "Off", "What was changed, and failures"}))
	if len(info.Thinking) > 0 || h.thinks.Load() {
		list = append(list, display(session.OptionReasoning, "Reasoning", "Whether the model's thoughts are shown", c.Reasoning,
			selectChoice{reasoningShown, "Shown", ""}, selectChoice{reasoningHidden, "Hidden", ""}))
	}
	if values := usageChoices(info); len(values) > 0 {
		list = append(list, display(session.OptionUsage, "Usage", "What is said of tokens and cost", c.Usage, values...))
	}
	if len(h.policy.Modes()) > 1 {
		o := display(session.OptionElevated, "Elevated actions", "What becomes of actions that need a person's approval", c.Elevated,
			selectChoice{elevatedAsk, "Ask", "You are asked about each"},
			selectChoice{elevatedOff, "Off", "They are refused without asking"})
		o.Category = session.CategoryRights
		list = append(list, o)
	}
	return list
}

func (h *handle) modeOption(c choice) selectOption {
	o := selectOption{ID: session.OptionMode, Name: "Mode", Category: session.OptionMode, Type: "select", Current: string(c.Mode)}
	for _, m := range h.policy.Modes() {
		o.Options = append(o.Options, modeChoice(m))
	}
	return o
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

func (h *handle) modelOption(c choice) selectOption {
	o := selectOption{ID: session.OptionModel, Name: "Model", Category: session.OptionModel, Type: "select", Current: c.Model}
	for _, m := range h.agent.Models {
		o.Options = append(o.Options, selectChoice{Value: m, Name: m})
	}
	return o
}

func thoughtOption(levels []model.Level, now model.Level) selectOption {
	o := selectOption{ID: session.OptionThought, Name: "Thinking", Category: session.OptionThought, Type: "select", Current: thoughtValue(now)}
	o.Options = append(o.Options, selectChoice{Value: thoughtValue(model.LevelDefault), Name: "Default"})
	for _, l := range levels {
		o.Options = append(o.Options, selectChoice{Value: string(l), Name: string(l)})
	}
	return o
}

// thoughtValue names the level on the wire, where the default needs a name.
func thoughtValue(l model.Level) string {
	if l == model.LevelDefault {
		return "default"
	}
	return string(l)
}

// usageChoices are those that say something of a model: without a window there is
// no update to show, and without a price no cost in it.
func usageChoices(info model.Info) []selectChoice {
	if info.ContextWindow <= 0 {
		return nil
	}
	values := []selectChoice{
		{usageTokens, "Tokens", "How full the model's window is"},
		{usageOff, "Off", "Nothing, unless you ask with /usage"},
	}
	if info.Price == nil {
		return values
	}
	return append([]selectChoice{{usageFull, "Full", "Also what the session has cost"}}, values...)
}

// display is an option about what is shown. Where the chosen value is not offered,
// the first holds.
func display(id, name, description, chosen string, values ...selectChoice) selectOption {
	o := selectOption{
		ID: id, Name: name, Description: description, Category: session.CategoryDisplay,
		Type: "select", Current: chosen, Options: values,
	}
	if !o.offers(chosen) {
		o.Current = values[0].Value
	}
	return o
}
