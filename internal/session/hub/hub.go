// Package hub finds, creates and restores sessions, and lets surfaces attach to
// them. Every surface is a client of one hub, and every agent a driver of it.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// Limits bound what sessions do; the fields of actor.Limits are per session.
type Limits struct {
	actor.Limits
	Sessions int // active ones per owner; 0 means no limit
}

// Options are what a hub is made of. Ledger and Drivers are required.
type Options struct {
	Ledger session.Ledger
	// Drivers finds the driver of an agent alias. An alias that is unknown,
	// disabled or unusable is an error that a client is told.
	Drivers func(agent string) (session.Driver, error)
	Limits  Limits
	Now     func() time.Time // the wall clock; default time.Now
	Logger  *slog.Logger     // default: none
}

// Hub holds the active sessions of this process. Its methods may be called from
// any goroutine.
type Hub struct {
	opts Options

	// mu guards the map and the counts; it is held for moments, never while a
	// session is opened, restored or closed.
	mu       sync.Mutex
	entries  map[string]*entry
	active   map[slot]int
	draining bool
}

// New makes a hub.
func New(opts Options) *Hub {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Hub{opts: opts, entries: make(map[string]*entry), active: make(map[slot]int)}
}

// NewSession says what to create.
type NewSession struct {
	Owner, Agent, Cwd  string
	Roots              []string
	Key, Label, Parent string // Key: empty for one that is made up
	Servers            []jsontext.Value
	Attach             session.AttachRequest // Owner, Cwd, Roots and Servers are taken from above
}

func (n NewSession) info(now time.Time) session.Info {
	return session.Info{
		ID: session.NewID("s"), Owner: n.Owner, Agent: n.Agent, Cwd: n.Cwd, Roots: slices.Clone(n.Roots),
		Key: cmp.Or(n.Key, session.NewKey(n.Agent, session.KeyACP)), Label: n.Label, Parent: n.Parent,
		CreatedAt: now, UpdatedAt: now,
	}
}

func (n NewSession) attach() session.AttachRequest {
	req := n.Attach
	req.Owner, req.Cwd, req.Roots, req.Servers = n.Owner, "", nil, n.Servers
	return req
}

// Create stores a new session, opens its agent and attaches the caller.
func (h *Hub) Create(ctx context.Context, n NewSession) (session.Attachment, error) {
	return h.create(ctx, n, n.info(h.opts.Now()), making{store: h.opts.Ledger.Create})
}

// Reset makes a session under the key and the label of another, which goes on
// without them: with its own id, and whatever it does. The error is a
// *session.KeyTakenError when somebody else was first.
func (h *Hub) Reset(ctx context.Context, old string, n NewSession) (session.Attachment, error) {
	info, err := h.opts.Ledger.Info(ctx, old)
	if err != nil {
		return nil, err
	}
	n.Owner, n.Key, n.Label = info.Owner, info.Key, info.Label
	moved := false
	att, err := h.create(ctx, n, n.info(h.opts.Now()), making{
		store: func(ctx context.Context, info session.Info) (session.Fence, error) {
			fence, err := h.opts.Ledger.Reset(ctx, old, info)
			moved = err == nil
			return fence, err
		},
	})
	switch {
	case err == nil:
		h.unname(ctx, old)
	case moved && info.Key != "": // the new one is gone again: give back what it took
		back := session.InfoChange{Key: &info.Key, Label: &info.Label}
		err = errors.Join(err, h.opts.Ledger.Update(context.WithoutCancel(ctx), old, 0, back))
	}
	return att, err
}

// unname tells a session that it has lost its key and label. Where it is active
// in another instance nothing is told; what is stored is right already.
func (h *Hub) unname(ctx context.Context, id string) {
	none := ""
	err := h.change(ctx, id, session.InfoChange{Key: &none, Label: &none})
	if err != nil && !errors.As(err, new(*session.ActiveElsewhereError)) {
		h.opts.Logger.Warn("a session that was reset was not told", "session", id, "err", err)
	}
}

// making says how a session comes to be.
type making struct {
	store func(context.Context, session.Info) (session.Fence, error)
	fill  func(session.Fence) (*state.State, error) // writes its past; may be nil
}

// create makes a session and opens its agent.
func (h *Hub) create(ctx context.Context, n NewSession, info session.Info, m making) (session.Attachment, error) {
	driver, err := h.opts.Drivers(n.Agent)
	if err != nil {
		return nil, err
	}
	place := slot{info.Owner, info.Subagent}
	e := h.entry(info.ID) // before the reservation, so that a drain finds it
	e.gate <- struct{}{}
	defer e.unlock()
	if err := h.makeRoom(ctx, place); err != nil {
		h.forget(e)
		return nil, err
	}
	fence, err := m.store(ctx, info)
	if err != nil {
		h.unreserve(place)
		h.forget(e)
		return nil, fmt.Errorf("create session: %w", err)
	}
	s := start{info: info, slot: place, fence: fence, driver: driver, servers: n.Servers, away: n.Attach.Hands.Only}
	if m.fill != nil {
		s.restored = true
		s.state, err = m.fill(fence)
	}
	if err == nil {
		err = e.start(ctx, s)
	}
	if err != nil {
		h.unreserve(place)
		h.forget(e)
		err = errors.Join(err, h.opts.Ledger.Delete(context.WithoutCancel(ctx), info.ID))
		return nil, err
	}
	return e.attach(n.attach()), nil
}

// Attach joins a session, restoring it when it is not active. The errors are
// session.ErrNotFound, *session.ActiveElsewhereError, session.ErrSessionLimit
// and the driver's own.
func (h *Hub) Attach(ctx context.Context, id string, req session.AttachRequest) (session.Attachment, error) {
	e, err := h.join(ctx, id)
	if err != nil {
		return nil, err
	}
	defer e.unlock()
	if err := e.activate(ctx, req); err != nil {
		h.forgetUnused(e)
		return nil, err
	}
	return e.attach(req), nil
}

// join returns a session's entry, its gate held. An entry that was given up
// meanwhile is looked up anew.
func (h *Hub) join(ctx context.Context, id string) (*entry, error) {
	for {
		e := h.entry(id)
		if err := e.lock(ctx); err != nil {
			return nil, err
		}
		if !e.dead {
			return e, nil
		}
		e.unlock()
	}
}

// entry returns the entry of a session, made if need be.
func (h *Hub) entry(id string) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.entries[id]
	if !ok {
		e = newEntry(h, id)
		h.entries[id] = e
	}
	return e
}

// find returns the entry of a session that has one.
func (h *Hub) find(id string) (*entry, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e, ok := h.entries[id]
	return e, ok
}

// forget drops an entry; its gate is held.
func (h *Hub) forget(e *entry) {
	e.dead = true
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.entries[e.id] == e {
		delete(h.entries, e.id)
	}
}

// forgetUnused drops an entry that neither runs nor is attached to.
func (h *Hub) forgetUnused(e *entry) {
	if e.actor.Load() == nil && (e.board == nil || e.board.Attached() == 0) {
		h.forget(e)
	}
}

// slot is what an active session counts as. Those of subagents are bounded by
// whoever starts them and take no owner's share.
type slot struct {
	owner    string
	subagent bool
}

// reserve counts one more active session.
func (h *Hub) reserve(s slot) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining {
		return session.ErrDraining
	}
	if limit := h.opts.Limits.Sessions; limit > 0 && !s.subagent && h.active[s] >= limit {
		return session.ErrSessionLimit
	}
	h.active[s]++
	return nil
}

func (h *Hub) unreserve(s slot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.active[s]--; h.active[s] <= 0 {
		delete(h.active, s)
	}
}

// Active is the number of active sessions in this process.
func (h *Hub) Active() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, c := range h.active {
		n += c
	}
	return n
}

// Draining reports whether Drain was called.
func (h *Hub) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining
}

// Load tells how many sessions are active in this process and how many of them
// have a turn under way. One that does not answer within ctx counts as running.
func (h *Hub) Load(ctx context.Context) (active, running int) {
	h.mu.Lock()
	var actors []*actor.Actor
	for _, e := range h.entries {
		if a := e.actor.Load(); a != nil {
			actors = append(actors, a)
		}
	}
	h.mu.Unlock()
	for _, a := range actors {
		s, err := a.Status(ctx)
		switch {
		case errors.Is(err, session.ErrNotActive):
			continue
		case err != nil || s.Running:
			running++
		}
		active++
	}
	return active, running
}
