package native

import (
	"slices"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// boundOf is what an owner's words leave of the session's rights: a session that
// is shared acts for each by what both may. Of a subagent it is no more than
// what its parent's turn has.
func (h *handle) boundOf(owner string) policy.Rights {
	var bound policy.Rights
	if owner != "" && owner != h.info.Owner && h.driver.opts.Rights != nil {
		bound = h.driver.opts.Rights(owner)
	}
	if h.kin != nil {
		bound = bound.Min(h.kin.bound)
	}
	return bound
}

// choiceNow is what is chosen now, with a mode that the turn's rights have.
func (t *turn) choiceNow() choice {
	c := t.handle.choice()
	if modes := t.policy.Within(t.bound).Modes(); t.bound != (policy.Rights{}) && !slices.Contains(modes, c.Mode) {
		c.Mode = modes[0]
	}
	return c
}

// mayChoose refuses an option by which an owner would have the session do, in
// turns of others, what its own may not.
func (h *handle) mayChoose(owner, option, value string) error {
	own := h.policy.Within(h.boundOf(owner))
	beyond := false
	switch option {
	case session.OptionMode:
		mode := policy.Mode(value)
		beyond = slices.Contains(h.policy.Modes(), mode) && !slices.Contains(own.Modes(), mode)
	case session.OptionElevated:
		beyond = value != elevatedOff && own.Level() != h.policy.Level()
	}
	if beyond {
		return session.Invalidf("%q of option %q is beyond your rights in this session; its owner can choose it", value, option)
	}
	return nil
}
