package doctor

import (
	"cmp"
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// Sandbox says what confines the commands of an agent, and why nothing better.
func Sandbox(alias string, st sandbox.Status, required bool) Finding {
	const check = "sandbox"
	switch {
	case st.Chosen && required:
		return fail(check, `remove sandbox = "none", or sandbox_required`, "agent %s is to run no command without a sandbox, and is to have none", alias)
	case st.Chosen:
		return warn(check, `remove sandbox = "none" from the configuration`, "nothing confines the commands of agent %s: the configuration says so", alias)
	case !st.Works() && required:
		return fail(check, fixOf(st), "agent %s runs no command, since no sandbox works here: %s", alias, st.Why())
	case !st.Works():
		return warn(check, fixOf(st), "nothing confines the commands of agent %s: %s", alias, st.Why())
	}
	how := string(st.Rung)
	if st.Rung == sandbox.Landlock {
		how = fmt.Sprintf("Landlock (version %d) with a system call filter", st.ABI)
	}
	if len(st.Failed) > 0 {
		f := ok(check, "%s confines the commands of agent %s, since %s", how, alias, st.Why())
		f.Fix = st.Fix()
		return f
	}
	return ok(check, "%s confines the commands of agent %s", how, alias)
}

func fixOf(st sandbox.Status) string {
	return cmp.Or(st.Fix(), "there is nothing to do on this system; what is run can do what you can do")
}
