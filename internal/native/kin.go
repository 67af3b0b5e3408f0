package native

import (
	"context"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// maxDepth is how deep subagents nest: those of a person's session have none
	// of their own.
	maxDepth = 1
	// maxBeside is how many subagents of one session work at a time; more wait.
	maxBeside = 4
)

// Sessions makes the sessions of subagents and frees them.
type Sessions interface {
	// Spawn stores a session as info says, opens it and attaches the caller.
	Spawn(ctx context.Context, info session.Info, at session.AttachRequest) (session.Attachment, error)
	// Close cancels what a session does and frees it; its record stays.
	Close(ctx context.Context, id string) error
}

// kin ties a subagent to the session it works for, while it does. What the
// parent may not do the subagent may not either, at any time.
type kin struct {
	parent *handle
	depth  int
	mode   policy.Mode // at most; "" for the parent's
	only   []string    // the tools it may use; nil for all
	// bound is what holds in the turn it works for, because of who prompted that.
	bound policy.Rights

	mu    sync.Mutex
	spent spent
}

// spent is what model steps have cost.
type spent struct {
	Usage model.Usage `json:"usage"`
	Cost  price.Bill  `json:"cost,omitzero"`
}

func (s spent) add(o spent) spent { return spent{s.Usage.Add(o.Usage), s.Cost.Add(o.Cost)} }

// spend counts what the subagent's model steps cost.
func (k *kin) spend(s spent) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.spent = k.spent.add(s)
}

func (k *kin) total() spent {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.spent
}

// adopt makes the session of an id, once it is opened, a subagent's.
func (d *Driver) adopt(id string, k *kin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kin == nil {
		d.kin = make(map[string]*kin)
	}
	d.kin[id] = k
}

// release ends that.
func (d *Driver) release(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.kin, id)
}

func (d *Driver) kinOf(id string) *kin {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kin[id]
}

// join makes a handle that is being opened a subagent's: it shares what its
// parent has and is bounded by what its parent may do.
func (h *handle) join(k *kin, restored bool) {
	p := k.parent
	h.kin, h.budget, h.servers, h.awaited = k, p.budget, p.servers, true
	h.findings.bare = p.findings.wasTold()
	chosen := p.choices.lead(&h.choices)
	if !restored {
		h.choices.set = chosen
		h.choices.set.Mode = widest(h.policy.Modes())
	}
}

// leaveParent ends a subagent's tie to its parent's handle.
func (h *handle) leaveParent() {
	if h.kin == nil {
		return
	}
	h.kin.parent.choices.release(&h.choices)
}

// lead tells another's of changes of the mode from now on, and returns what is
// chosen here.
func (c *choices) lead(other *choices) choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.under == nil {
		c.under = make(map[*choices]struct{})
	}
	c.under[other] = struct{}{}
	return c.set
}

// release ends that.
func (c *choices) release(other *choices) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.under, other)
}

// widest is the mode of a list that allows most.
func widest(modes []policy.Mode) policy.Mode {
	w := modes[0]
	for _, m := range modes[1:] {
		if narrower(w, m) == w {
			w = m
		}
	}
	return w
}

// narrower is the mode of two that allows less.
func narrower(a, b policy.Mode) policy.Mode {
	return policy.Rights{Mode: a}.Min(policy.Rights{Mode: b}).Mode
}

// within bounds a mode by what the parent is set to now.
func (k *kin) within(m policy.Mode) policy.Mode {
	return narrower(narrower(m, k.mode), k.parent.choice().Mode)
}

// awaitFreed waits for the ends of subagents' sessions.
func (h *handle) awaitFreed(ctx context.Context) {
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		h.freeing.Wait()
	}()
	select {
	case <-freed:
	case <-ctx.Done():
	}
}

// keepSpent counts what a subagent cost as the session's own.
func (t *turn) keepSpent(ctx context.Context, s spent) {
	if s.Usage == (model.Usage{}) && len(s.Cost) == 0 {
		return
	}
	t.kin.spend(s)
	if err := t.keep(ctx, record{Spent: &s}); err == nil {
		_ = t.showUsage(ctx) // the next step shows it again
	}
}

// depth is how many sessions this one works for, through one another.
func (h *handle) depth() int {
	switch {
	case h.kin != nil:
		return h.kin.depth
	case h.info.Subagent:
		return maxDepth // whatever it was, it is a person's now
	}
	return 0
}

// maySpawn reports whether the session may have subagents.
func (h *handle) maySpawn() bool {
	return h.driver.opts.Sessions != nil && h.depth() < maxDepth
}

// allowed is what of a set of tools the session may use.
func (h *handle) allowed(set *tool.Set) *tool.Set {
	if h.kin == nil || h.kin.only == nil {
		return set
	}
	return set.Only(h.kin.only...)
}
