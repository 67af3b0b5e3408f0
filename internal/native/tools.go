package native

import "github.com/grapnel-ai/grapnel/internal/tool"

// toolsets are the sets of tools of a session, made anew when they change. The
// turn's goroutine owns them.
type toolsets struct {
	own     *tool.Set // the agent's own tools without those of no use here
	without useless

	step    *tool.Set // of the last model step
	stepOwn *tool.Set // the agent's own tools in step
	version uint64    // the version of the servers' tools in step

	away   *tool.Set // for turns that a client's hands do alone
	awayOf *tool.Set // the agent's own tools it was made of
}

// ownTools are the agent's own tools that are of use in the session now. The
// turn's goroutine calls it.
func (h *handle) ownTools() *tool.Set {
	without := useless{skills: len(h.skills.catalogue().Skills) == 0, spawn: !h.maySpawn()}
	s := &h.sets
	if s.own == nil || s.without != without {
		s.own, s.without = h.agent.Tools.Without(without.names()...), without
	}
	return s.own
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
