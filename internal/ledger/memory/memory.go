// Package memory is a ledger that lives as long as its process: what sessions
// fall back on when no store can be opened, and what tests run on.
package memory

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Ledger is a session.Ledger in memory. It is one instance: a session it
// already owns may be acquired again, which fences the earlier owner.
type Ledger struct {
	mu       sync.RWMutex
	sessions map[string]*record
	created  uint64 // sessions so far
	closed   bool
}

// record is one session; it is guarded by Ledger.mu.
type record struct {
	num        uint64 // order of creation
	info       session.Info
	fence      session.Fence
	active     bool
	events     []session.Event
	snapshot   []byte
	snapshotAt session.Seq
	docs       map[session.Seq]session.Doc
}

var _ session.Ledger = (*Ledger)(nil)

// New returns an empty ledger.
func New() *Ledger {
	return &Ledger{sessions: make(map[string]*record)}
}

// Create implements session.Ledger.
func (l *Ledger) Create(ctx context.Context, info session.Info) (session.Fence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	return l.create(info)
}

func (l *Ledger) create(info session.Info) (session.Fence, error) {
	if _, ok := l.sessions[info.ID]; ok {
		return 0, session.Invalidf("session %s exists already", info.ID)
	}
	if err := l.keyTaken(info.Owner, info.Key, info.ID); err != nil {
		return 0, err
	}
	info.Roots, info.Shares = slices.Clone(info.Roots), slices.Clone(info.Shares)
	l.created++
	l.sessions[info.ID] = &record{num: l.created, info: info, fence: 1, active: true, docs: make(map[session.Seq]session.Doc)}
	return 1, nil
}

// Reset implements session.Ledger.
func (l *Ledger) Reset(ctx context.Context, old string, info session.Info) (session.Fence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	r, ok := l.sessions[old]
	if !ok {
		return 0, session.ErrNotFound
	}
	key, label := r.info.Key, r.info.Label
	if key != "" && key != info.Key || r.info.Owner != info.Owner {
		return 0, &session.KeyTakenError{Key: info.Key, Session: old}
	}
	r.info.Key, r.info.Label = "", ""
	fence, err := l.create(info)
	if err != nil {
		r.info.Key, r.info.Label = key, label
	}
	return fence, err
}

var errClosed = errors.New("the session ledger is closed")

// usable refuses a call whose context has ended, or on a closed ledger.
func (l *Ledger) usable(ctx context.Context) error {
	if l.closed {
		return errClosed
	}
	return ctx.Err()
}

func (l *Ledger) keyTaken(owner, key, id string) error {
	if key == "" {
		return nil
	}
	for _, r := range l.sessions {
		if r.info.Owner == owner && r.info.Key == key && r.info.ID != id {
			return &session.KeyTakenError{Key: key, Session: r.info.ID}
		}
	}
	return nil
}

// Info implements session.Ledger.
func (l *Ledger) Info(ctx context.Context, id string) (session.Info, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return session.Info{}, err
	}
	r, ok := l.sessions[id]
	if !ok {
		return session.Info{}, session.ErrNotFound
	}
	return r.view(), nil
}

// view copies the record's Info with what the ledger itself knows.
func (r *record) view() session.Info {
	info := r.info
	info.Roots, info.Shares = slices.Clone(info.Roots), slices.Clone(info.Shares)
	info.LastSeq = session.Seq(len(r.events))
	info.Active = r.active
	return info
}

// Update implements session.Ledger.
func (l *Ledger) Update(ctx context.Context, id string, fence session.Fence, change session.InfoChange) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	r, ok := l.sessions[id]
	if !ok {
		return session.ErrNotFound
	}
	if fence != 0 && fence != r.fence {
		return session.ErrFenced
	}
	return l.change(r, &change)
}

func (l *Ledger) change(r *record, c *session.InfoChange) error {
	if c.Key != nil {
		if err := l.keyTaken(r.info.Owner, *c.Key, r.info.ID); err != nil {
			return err
		}
	}
	c.Apply(&r.info)
	return nil
}

// Delete implements session.Ledger.
func (l *Ledger) Delete(ctx context.Context, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	delete(l.sessions, id)
	return nil
}

// Append implements session.Ledger.
func (l *Ledger) Append(ctx context.Context, id string, fence session.Fence, b session.Batch) (session.Seq, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	r, ok := l.sessions[id]
	if !ok {
		return 0, session.ErrNotFound
	}
	if fence != r.fence || !r.active {
		return 0, session.ErrFenced
	}
	if err := checkMarks(b.Events); err != nil {
		return 0, err
	}
	if b.Change != nil {
		if err := l.change(r, b.Change); err != nil {
			return 0, err
		}
	}
	for _, e := range b.Events {
		e.Seq = session.Seq(len(r.events) + 1)
		r.events = append(r.events, e)
	}
	last := session.Seq(len(r.events))
	if b.Snapshot != nil {
		r.snapshot, r.snapshotAt = slices.Clone(b.Snapshot), last
	}
	for _, d := range b.Docs {
		r.docs[d.Seq] = d
	}
	return last, nil
}

// checkMarks refuses spans that lie outside their body.
func checkMarks(events []session.Event) error {
	for _, e := range events {
		for _, s := range []session.Span{e.Marks.SessionID, e.Marks.Meta, e.Marks.ToolCallID, e.Marks.MessageID} {
			if s.From > s.To || int(s.To) > len(e.Body) {
				return session.Invalidf("event %s has a mark [%d, %d) outside its %d bytes", e.ID, s.From, s.To, len(e.Body))
			}
		}
	}
	return nil
}

// Read implements session.Ledger.
func (l *Ledger) Read(ctx context.Context, id string, after session.Seq, limit int) ([]session.Event, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	r, ok := l.sessions[id]
	if !ok {
		return nil, session.ErrNotFound
	}
	if after >= session.Seq(len(r.events)) || limit <= 0 {
		return nil, nil
	}
	rest := r.events[after:]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

// Snapshot implements session.Ledger.
func (l *Ledger) Snapshot(ctx context.Context, id string) ([]byte, session.Seq, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, 0, err
	}
	r, ok := l.sessions[id]
	if !ok {
		return nil, 0, session.ErrNotFound
	}
	return slices.Clone(r.snapshot), r.snapshotAt, nil
}

// Acquire implements session.Ledger.
func (l *Ledger) Acquire(ctx context.Context, id string) (session.Fence, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	r, ok := l.sessions[id]
	if !ok {
		return 0, session.ErrNotFound
	}
	r.fence++
	r.active = true
	return r.fence, nil
}

// Release implements session.Ledger.
func (l *Ledger) Release(ctx context.Context, id string, fence session.Fence) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(ctx); err != nil {
		return err
	}
	if r, ok := l.sessions[id]; ok && r.fence == fence {
		r.active = false
	}
	return nil
}

// Close implements session.Ledger. What it held is gone.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed, l.sessions = true, nil
	return nil
}
