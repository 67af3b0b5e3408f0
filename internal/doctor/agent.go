package doctor

// Default says which agent a session gets when its client names none; err is why
// none.
func Default(alias string, err error) Finding {
	if err != nil {
		return warn("agent", "grapnel config set acp.default_agent ALIAS", "sessions that name no agent are refused: %v", err)
	}
	return ok("agent", "sessions that name no agent get %s", alias)
}

// External is the finding for an agent that this build does not run.
func External(alias string) Finding {
	return warn("agent", "use another agent", "agent %s runs an external program, which this build does not host", alias)
}
