package sqlite

import (
	"cmp"
	"context"

	"github.com/grapnel-ai/grapnel/internal/session"
)

const createSQL = `INSERT INTO sessions (id, owner, key, label, agent, cwd, roots, title, title_set, archived,
	parent, subagent, harness, grants, created, updated, instance, fence)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1) RETURNING num`

// Create implements [session.Ledger]. An id or an owner's key that is taken is
// an InvalidError.
func (l *Ledger) Create(ctx context.Context, info session.Info) (session.Fence, error) {
	if info.ID == "" {
		return 0, session.Invalidf("a session needs an id")
	}
	err := l.writer.do(ctx, &request{op: func(t *tx) error { return t.create(&info, 0) }})
	if err != nil {
		return 0, err
	}
	return 1, nil
}

// create stores a session. The session of number from, if not 0, gives up its
// key and label to it. Nothing is written before all is checked: the transaction
// may be others' too.
func (t *tx) create(info *session.Info, from int64) error {
	if err := t.checkEpoch(); err != nil {
		return err
	}
	var taken int
	if t.row(`SELECT 1 FROM sessions WHERE id = ?`, []any{info.ID}, &taken) {
		return session.Invalidf("session %s exists already", info.ID)
	}
	if err := t.checkKey(info.Owner, info.Key, from); err != nil {
		return err
	}
	if from != 0 {
		t.exec(`UPDATE sessions SET key = '', label = '' WHERE num = ?`, from)
	}
	var num int64
	t.row(createSQL, []any{
		info.ID, info.Owner, info.Key, info.Label, info.Agent, info.Cwd, rootsValue(info.Roots), info.Title, info.TitleSet,
		info.Archived, info.Parent, info.Subagent, info.Foreign, []byte(info.Grants), unixNano(info.CreatedAt), unixNano(info.UpdatedAt),
		t.w.l.inst.ID(),
	}, &num)
	for _, s := range info.Shares {
		t.share(num, []session.ShareChange{{Share: s}})
	}
	if t.failed != nil {
		return t.failed
	}
	t.w.owned[info.ID] = &owned{num: num, fence: 1}
	t.touched = append(t.touched, info.ID)
	return nil
}

// Reset implements [session.Ledger].
func (l *Ledger) Reset(ctx context.Context, old string, info session.Info) (session.Fence, error) {
	err := l.writer.do(ctx, &request{op: func(t *tx) error {
		num, err := t.keyHolder(old, &info)
		if err != nil {
			return err
		}
		return t.create(&info, num)
	}})
	if err != nil {
		return 0, err
	}
	return 1, nil
}

// keyHolder returns the number of the session old, if it has the key that info
// is to get, or none.
func (t *tx) keyHolder(old string, info *session.Info) (num int64, err error) {
	var owner, key string
	if !t.row(`SELECT num, owner, key FROM sessions WHERE id = ?`, []any{old}, &num, &owner, &key) {
		return 0, cmp.Or(t.failed, session.ErrNotFound)
	}
	if key != "" && key != info.Key || owner != info.Owner {
		return 0, &session.KeyTakenError{Key: info.Key, Session: old}
	}
	return num, nil
}

// checkKey refuses a key the owner gave to another session than num.
func (t *tx) checkKey(owner, key string, num int64) error {
	if key == "" {
		return t.failed
	}
	var other string
	if t.row(`SELECT id FROM sessions WHERE owner = ? AND key = ? AND num <> ?`, []any{owner, key, num}, &other) {
		return &session.KeyTakenError{Key: key, Session: other}
	}
	return t.failed
}

// Acquire implements [session.Ledger]. Acquiring a session this instance owns
// already gives a new fence.
func (l *Ledger) Acquire(ctx context.Context, id string) (session.Fence, error) {
	var fence session.Fence
	err := l.writer.do(ctx, &request{op: func(t *tx) (err error) {
		fence, err = t.acquire(id)
		return err
	}})
	return fence, err
}

func (t *tx) acquire(id string) (session.Fence, error) {
	if err := t.checkEpoch(); err != nil {
		return 0, err
	}
	if err := t.checkOwner(id); err != nil {
		return 0, err
	}
	s, err := t.load(id)
	if err != nil {
		return 0, err
	}
	s.fence++
	t.exec(`UPDATE sessions SET instance = ?, fence = ? WHERE num = ?`, t.w.l.inst.ID(), int64(s.fence), s.num)
	if t.failed != nil {
		return 0, t.failed
	}
	t.w.owned[id] = s
	t.touched = append(t.touched, id)
	return s.fence, nil
}

// checkOwner refuses with ActiveElsewhereError while another instance that
// lives owns the session, and with ErrNotFound when there is none.
func (t *tx) checkOwner(id string) error {
	var owner string
	if !t.row(`SELECT instance FROM sessions WHERE id = ?`, []any{id}, &owner) {
		if t.failed != nil {
			return t.failed
		}
		return session.ErrNotFound
	}
	if owner == "" || owner == t.w.l.inst.ID() {
		return nil
	}
	if peer, ok := t.w.l.inst.Peer(owner); ok {
		return &session.ActiveElsewhereError{Session: id, Instance: owner, Socket: peer.Socket}
	}
	return nil
}

// Release implements [session.Ledger].
func (l *Ledger) Release(ctx context.Context, id string, fence session.Fence) error {
	return l.writer.do(ctx, &request{op: func(t *tx) error {
		if s := t.w.owned[id]; s != nil && s.fence == fence {
			delete(t.w.owned, id)
		}
		if err := t.checkEpoch(); err != nil {
			return err
		}
		t.exec(`UPDATE sessions SET instance = '' WHERE id = ? AND fence = ? AND instance = ?`, id, int64(fence), t.w.l.inst.ID())
		return t.failed
	}})
}

// releaseAll gives up every session of this instance, when the ledger closes.
func (t *tx) releaseAll() error {
	if t.w.l.inst.ID() == "" {
		return nil // an observer owns none, and nobody's are not its
	}
	if err := t.checkEpoch(); err != nil {
		return err
	}
	t.exec(`UPDATE sessions SET instance = '' WHERE instance = ?`, t.w.l.inst.ID())
	return t.failed
}
