package native

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/mcp"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// makePolicies makes the policy twice: as it is, and as it is for commands that
// the operating system confines. Which of them holds is found out when the
// first command comes, for a session must not wait for it.
func (h *handle) makePolicies() (err error) {
	if h.policy, err = policy.New(h.agent.Policy); err != nil {
		return err
	}
	confined := h.agent.Policy
	confined.Sandboxed, confined.SandboxRequired = true, h.agent.Confine.Required
	h.inBox, err = policy.New(confined)
	return err
}

// openBox prepares the sandbox of the session's commands. Nothing is tried yet.
func (h *handle) openBox() {
	if h.agent.Sandbox == nil {
		return
	}
	s := h.agent.Confine
	s.Forbidden = h.agent.FSRoots.Forbidden
	s.Own = slices.Concat(s.Own, h.agent.FSRoots.Own)
	for _, root := range h.roots.Roots() {
		s.Roots = append(s.Roots, root.Path)
	}
	h.box = h.agent.Sandbox.Open(s)
}

// findings are what commands have shown of the sandbox. They are safe for
// concurrent use.
type findings struct {
	mu      sync.Mutex
	sandbox *sandbox.Status // as it was found, once it was
	bare    bool            // people were told that nothing confines commands
}

// know keeps what was found out of the sandbox.
func (f *findings) know(st sandbox.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sandbox = &st
}

// known is what is known of the sandbox, nil while nothing is.
func (f *findings) known() *sandbox.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sandbox
}

// wasTold reports whether people know that nothing confines commands.
func (f *findings) wasTold() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bare
}

// firstBare reports whether people are to be told so now, once.
func (f *findings) firstBare() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.bare
	f.bare = true
	return first
}

// policyOf returns the policy that judges a call.
func (r *running) policyOf(s policy.Subject) *policy.Policy {
	if r.confined && (s.Command != "" || len(s.Argv) > 0) {
		return r.inBox.Within(r.bound)
	}
	return r.policy.Within(r.bound)
}

// confine has a call that runs a command run it in the sandbox, if one works. It
// fails where there has to be one and none does: nobody need be asked then.
func (r *running) confine(ctx context.Context, env *tool.Env) error {
	switch {
	case r.box == nil:
		return nil
	case env.Away != nil: // no sandbox of ours is where it runs
		if r.box.Required() {
			return sandbox.ErrRequired
		}
		return nil
	}
	st, err := r.box.Status(ctx)
	r.confined, r.rung = st.Works(), string(st.Rung)
	if err == nil {
		r.findings.know(st)
	}
	switch {
	case err != nil:
		return err
	case r.confined:
		env.Confine = r.confineCommand
	case r.box.Required():
		return sandbox.ErrRequired
	case !st.Chosen:
		r.lacking = st.Why()
	}
	return nil
}

func (r *running) confineCommand(ctx context.Context, c tool.Confinement, s proc.Spec) (proc.Spec, error) {
	if c.Decision.Outside {
		return unconfined(s), nil
	}
	w := sandbox.Want{
		Network: c.Decision.Network, ReadOnly: c.ReadOnly,
		Everything:  r.policy.Within(r.bound).Rights(r.choiceNow().Mode).Level == policy.Full,
		GitSettings: vouched(c.Decision, r.byHook),
	}
	if st, err := r.box.Status(ctx); err == nil && st.Works() && !w.ReadOnly && !w.Everything && !w.GitSettings {
		r.settings = r.box.GitSettings(st)
	}
	return r.box.Confine(ctx, w, s)
}

// unconfined is a command that a person let out of the sandbox. It is told where
// the SSH agent is, which is of no use to any other.
func unconfined(s proc.Spec) proc.Spec {
	const agent = "SSH_AUTH_SOCK"
	if socket := os.Getenv(agent); socket != "" {
		s.Env = append(slices.Clip(s.Env), agent+"="+socket)
	}
	return s
}

// putBack undoes what a command has done to the settings and hooks of git
// without anybody's leave, now that nothing of it runs any more, and says so.
func (r *running) putBack(res tool.Result) tool.Result {
	if r.settings == nil {
		return res
	}
	changed, err := r.settings.PutBack()
	if len(changed) == 0 {
		return res
	}
	text := "The command changed what makes git run programs, which nobody had allowed: " + strings.Join(changed, ", ") + ". "
	if err == nil {
		text += "That was put back; what it had made is beside it, with .undone at the end of its name."
	} else {
		text += "That could not be put back: " + err.Error() + ". Look at it before you use git there."
	}
	res = res.Preface(text)
	res.Text, res.IsError = text+"\n"+res.Text, true
	return res
}

// vouched reports whether people stand for a command, each part of it: they
// were asked, or have allowed it beforehand. A hook that answered in their place
// does not stand for it.
func vouched(d policy.Decision, byHook bool) bool {
	if d.Verdict == policy.Ask {
		return !byHook
	}
	return len(d.Steps) > 0 && !slices.ContainsFunc(d.Steps, func(s policy.Step) bool {
		return s.Rule != "grant" && !strings.HasPrefix(s.Rule, "auto_approve ")
	})
}

// confineServer puts a process of an MCP server into the sandbox. It has the
// network unless no command has it, for most servers are there to reach one, and
// the places that its command line names.
func (h *handle) confineServer(ctx context.Context, s proc.Spec, n mcp.Named) (proc.Spec, error) {
	return h.box.Confine(ctx, sandbox.Want{
		Network:    h.agent.Policy.Network != policy.NetworkDeny,
		Everything: h.rights().Level == policy.Full,
		Readable:   n.Readable, Writable: n.Writable,
	}, s)
}

// tellBare tells the people, once in a session, that nothing confines its
// commands. It is the result of the first command that says so.
func (r *running) tellBare(ctx context.Context, res tool.Result) tool.Result {
	if r.lacking == "" || !r.findings.firstBare() {
		return res
	}
	text := "Nothing confines the commands of this session: " + r.lacking + ". What is run can do what you can do; `grapnel doctor` says what is missing."
	_ = r.sink.Emit(detached(ctx), notice(r.id, "warning", "Commands run without a sandbox", text)) // the result says it too
	return res.Preface(text)
}

// closeBox removes what the session's commands left in their own /tmp.
func (h *handle) closeBox() error {
	if h.box == nil {
		return nil
	}
	return h.box.Close()
}
