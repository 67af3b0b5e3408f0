package hub

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/attach"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// entry is a session known to this process: active, or parked with somebody
// attached.
type entry struct {
	hub *Hub
	id  string

	// gate holds a token while the session is being opened, restored, parked or
	// closed: one at a time per session, and no session waits for another.
	gate chan struct{}

	actor atomic.Pointer[actor.Actor] // nil while parked
	renew atomic.Bool                 // servers are others than the agent was started with

	// Guarded by gate.
	board   *attach.Board
	slot    slot
	fence   session.Fence
	servers []jsontext.Value // of the clients
	dead    bool             // forgotten: look the session up again
}

func newEntry(h *Hub, id string) *entry {
	return &entry{hub: h, id: id, gate: make(chan struct{}, 1)}
}

func (e *entry) lock(ctx context.Context) error {
	select {
	case e.gate <- struct{}{}:
		return nil
	default:
	}
	select {
	case e.gate <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *entry) unlock() { <-e.gate }

// start is what a session is started with.
type start struct {
	info     session.Info
	slot     slot
	fence    session.Fence
	driver   session.Driver
	state    *state.State // nil for a new session
	restored bool
	servers  []jsontext.Value
	away     bool // as session.OpenRequest.Away
}

// start runs a session that this process owns and opens its agent.
func (e *entry) start(ctx context.Context, s start) error {
	if s.state == nil {
		s.state = new(state.State)
	}
	s.info.Active = true
	if e.board == nil {
		e.board = attach.NewBoard(e.hub.opts.Ledger, s.info, s.state.Seq)
	} else {
		e.board.Resume(s.info, s.state.Seq)
	}
	e.slot, e.fence, e.servers = s.slot, s.fence, s.servers
	e.renew.Store(false)
	o := e.hub.opts
	cfg := actor.Config{
		Info: s.info, Fence: s.fence, Ledger: o.Ledger, Driver: s.driver, Board: e.board,
		State: s.state, Restored: s.restored, Servers: s.servers, Away: s.away,
		Limits: o.Limits.Limits, Now: o.Now, Log: o.Logger, OnIdle: e.park, OnLost: e.lost,
	}
	a, err := actor.Start(ctx, cfg)
	if err != nil {
		return err
	}
	if err := a.Ready(ctx); err != nil {
		_ = a.Close(context.WithoutCancel(ctx))
		return err
	}
	e.actor.Store(a)
	return nil
}

// activate restores the session unless it is active.
func (e *entry) activate(ctx context.Context, req session.AttachRequest) error {
	h := e.hub
	if e.actor.Load() != nil {
		return e.move(ctx, req)
	}
	ledger := h.opts.Ledger
	info, err := ledger.Info(ctx, e.id)
	if err != nil {
		return err
	}
	if err := admits(info, req); err != nil {
		return err
	}
	driver, err := h.opts.Drivers(info.Agent)
	if err != nil {
		return err
	}
	place := slot{owner: info.Owner}
	if err := h.makeRoom(ctx, place); err != nil {
		return err
	}
	if err := e.restore(ctx, req, driver); err != nil {
		h.unreserve(place)
		return err
	}
	return nil
}

// admits refuses an owner the session does not exist for.
func admits(info session.Info, req session.AttachRequest) error {
	if _, ok := info.RoleOf(req.Owner); req.Owner != "" && !ok {
		return session.ErrNotFound
	}
	return nil
}

func (e *entry) restore(ctx context.Context, req session.AttachRequest, driver session.Driver) (err error) {
	ledger := e.hub.opts.Ledger
	fence, err := ledger.Acquire(ctx, e.id)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = ledger.Release(context.WithoutCancel(ctx), e.id, fence)
		}
	}()
	info, err := ledger.Info(ctx, e.id)
	if err != nil {
		return err
	}
	if change, moved := movedTo(info, req); moved {
		if err := ledger.Update(ctx, e.id, fence, change); err != nil {
			return err
		}
		change.Apply(&info)
	}
	s, err := actor.Restore(ctx, ledger, e.id)
	if err != nil {
		return err
	}
	servers := req.Servers
	if servers == nil {
		servers = e.servers
	}
	return e.start(ctx, start{info: info, slot: slot{owner: info.Owner}, fence: fence, driver: driver, state: s, restored: true, servers: servers, away: req.Hands.Only})
}

// movedTo compares where a session works with where a client wants it to. A
// client that names a directory names all of them.
func movedTo(info session.Info, req session.AttachRequest) (session.InfoChange, bool) {
	if req.Cwd == "" || (req.Cwd == info.Cwd && slices.Equal(req.Roots, info.Roots)) {
		return session.InfoChange{}, false
	}
	roots := slices.Clone(req.Roots)
	return session.InfoChange{Cwd: &req.Cwd, Roots: &roots}, true
}

// move takes an active session to another directory, and to the MCP servers that
// a client brings, by restarting its agent. One that is at work cannot change its
// directory; its servers then wait for the next use of the session.
func (e *entry) move(ctx context.Context, req session.AttachRequest) error {
	info := e.board.Info()
	if err := admits(info, req); err != nil {
		return err
	}
	_, moved := movedTo(info, req)
	if !moved {
		e.take(req.Servers)
		req.Servers = nil
		if !e.renew.Load() {
			return nil
		}
	}
	parked, err := e.stopIdle(ctx)
	if err != nil {
		return err
	}
	if !parked && !moved {
		return nil
	}
	if !parked {
		return session.Invalidf("session %s is at work in %s: cancel its turn before moving it to %s", e.id, info.Cwd, req.Cwd)
	}
	return e.activate(ctx, req)
}

// parkBound is how long parking may take before the next try.
const parkBound = 30 * time.Second

// park frees a session that has been idle.
func (e *entry) park() {
	ctx, cancel := context.WithTimeout(context.Background(), parkBound)
	defer cancel()
	if e.lock(ctx) != nil {
		return
	}
	defer e.unlock()
	if parked, err := e.stopIdle(ctx); err != nil || !parked {
		return
	}
	e.hub.forgetUnused(e)
}

// stopIdle ends the actor if it has nothing to do. The gate is held.
func (e *entry) stopIdle(ctx context.Context) (bool, error) {
	a := e.actor.Load()
	if a == nil {
		return false, nil
	}
	parked, err := a.Park(ctx)
	if err != nil || !parked {
		return false, err
	}
	e.free(ctx)
	e.board.Park()
	return true, nil
}

// free gives up a session whose actor has ended.
func (e *entry) free(ctx context.Context) {
	e.actor.Store(nil)
	e.hub.unreserve(e.slot)
	if err := e.hub.opts.Ledger.Release(context.WithoutCancel(ctx), e.id, e.fence); err != nil {
		e.hub.opts.Logger.Warn("releasing session failed", "session", e.id, "err", err)
	}
	info := e.board.Info()
	info.Active = false
	e.board.SetInfo(info)
}

// lost takes note that an actor has ended by itself: the session was taken over
// or deleted under it.
func (e *entry) lost(a *actor.Actor, err error) {
	if e.lock(context.Background()) != nil {
		return
	}
	defer e.unlock()
	if e.actor.Load() != a {
		return
	}
	<-a.Done()
	e.free(context.Background())
	e.board.Close(err)
	e.hub.forget(e)
}

// close ends the session here by f and everybody's attachment with it. The gate
// is held.
func (e *entry) close(ctx context.Context, f func(*actor.Actor) error) error {
	if a := e.actor.Load(); a != nil {
		if err := f(a); err != nil {
			go e.closed(a) // it goes on closing
			return err
		}
		e.free(ctx)
	}
	if e.board != nil {
		e.board.Close(io.EOF)
	}
	e.hub.forget(e)
	return nil
}

// closed takes note of an actor that ended after nobody waited for it any more.
func (e *entry) closed(a *actor.Actor) {
	<-a.Done()
	e.lost(a, io.EOF)
}

// attach adds an attachment. The gate is held and the session active.
func (e *entry) attach(req session.AttachRequest) *attachment {
	if role, ok := e.board.Info().RoleOf(req.Owner); ok {
		req.Role = min(req.Role, role)
	}
	return &attachment{entry: e, board: e.board, Cursor: e.board.Attach(req)}
}
