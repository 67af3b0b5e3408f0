package session

// Ids of the config options that Grapnel itself gives meaning to (ACP
// SessionConfigOption). An agent that is run by another program has its own; ours
// stand beside them with OptionPrefix before the id.
const (
	OptionMode      = "mode"
	OptionModel     = "model"
	OptionThought   = "thought_level"
	OptionOutput    = "tool_output" // how much of a tool's output clients see
	OptionReasoning = "reasoning"   // whether clients see the model's thoughts
	OptionUsage     = "usage"       // how much clients hear of tokens and cost
	OptionElevated  = "elevated"    // what becomes of actions that need a person's approval
)

// OptionPrefix sets our options apart from those of a foreign agent.
const OptionPrefix = "grapnel."

// Categories of config options that are ours; those of ACP are mode, model and
// thought_level.
const (
	CategoryDisplay = "_display" // what clients see; a Prompter may set it
	CategoryRights  = "_rights"  // what the agent may do
)
