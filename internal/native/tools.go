package native

import "github.com/grapnel-ai/grapnel/internal/tool"

// ownTools are the agent's own tools that are of use in the session now. The
// turn's goroutine calls it.
func (h *handle) ownTools() *tool.Set {
	without := useless{skills: len(h.skills.catalogue().Skills) == 0, spawn: !h.maySpawn()}
	if h.own == nil || h.without != without {
		h.own, h.without = h.agent.Tools.Without(without.names()...), without
	}
	return h.own
}

// useless says which tools are of no use in a session.
type useless struct {
	skills bool // there are none to read
	spawn  bool // there may be no subagents
}

func (u useless) names() []string {
	var list []string
	if u.skills {
		list = append(list, tool.NameReadSkill)
	}
	if u.spawn {
		list = append(list, tool.NameSpawnSubagent)
	}
	return list
}
