package native

import "github.com/grapnel-ai/grapnel/internal/tool"

// ownTools are the agent's own tools that are of use in the session now. The
// turn's goroutine calls it.
func (h *handle) ownTools() *tool.Set {
	if len(h.skills.catalogue().Skills) > 0 {
		return h.agent.Tools
	}
	if h.unskilled == nil {
		h.unskilled = h.agent.Tools.Without(tool.NameReadSkill)
	}
	return h.unskilled
}
