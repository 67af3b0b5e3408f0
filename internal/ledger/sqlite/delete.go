package sqlite

import (
	"context"
	"errors"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// purgeRows is how much of a deleted session one transaction removes, so that
// deleting a long one does not hold up the others.
const purgeRows = 128

// Delete implements [session.Ledger]. The session is gone at once and its
// events when Delete returns; if the process dies in between, the rest goes when
// the store is next idle after a write. A session active in another instance is not deleted.
func (l *Ledger) Delete(ctx context.Context, id string) error {
	var num int64
	err := l.writer.do(ctx, &request{op: func(t *tx) (err error) {
		num, err = t.delete(id)
		return err
	}})
	if err != nil || num == 0 {
		return err
	}
	return l.purge(context.WithoutCancel(ctx), num)
}

// delete takes a session away and leaves its number in the trash. It returns 0
// when there is none.
func (t *tx) delete(id string) (int64, error) {
	if err := t.checkEpoch(); err != nil {
		return 0, err
	}
	err := t.checkOwner(id)
	if errors.Is(err, session.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	s, err := t.load(id)
	if err != nil {
		return 0, err
	}
	t.exec(`DELETE FROM sessions WHERE num = ?`, s.num)
	t.exec(`DELETE FROM snapshots WHERE num = ?`, s.num)
	t.exec(`DELETE FROM shares WHERE num = ?`, s.num)
	t.exec(`INSERT INTO trash (num) VALUES (?)`, s.num)
	delete(t.w.owned, id)
	return s.num, t.failed
}

// purge removes what is left of a deleted session, in small transactions.
func (l *Ledger) purge(ctx context.Context, num int64) error {
	for more := true; more; {
		err := l.writer.do(ctx, &request{op: func(t *tx) (err error) {
			more, err = t.purge(num)
			return err
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// purge removes some of it; true when there may be more.
func (t *tx) purge(num int64) (bool, error) {
	if err := t.checkEpoch(); err != nil {
		return false, err
	}
	from, to := eventKey(num, 0), eventKey(num, seqMask)
	n := t.exec(`DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id > ? AND id <= ? LIMIT ?)`, from, to, purgeRows)
	for range purgeRows {
		var key int64
		if !t.row(`SELECT id FROM docs WHERE id > ? AND id <= ? LIMIT 1`, []any{from, to}, &key) {
			break
		}
		t.unindex(key)
		n++
	}
	if n == 0 {
		t.exec(`DELETE FROM trash WHERE num = ?`, num)
	}
	return n > 0, t.failed
}

// emptyTrash purges what deletions left that did not come to their end.
func (l *Ledger) emptyTrash(ctx context.Context) error {
	for {
		var num int64
		ok, err := l.reader.row(`SELECT num FROM trash LIMIT 1`, nil, &num)
		if err != nil || !ok {
			return l.storeError(err)
		}
		if err := l.purge(ctx, num); err != nil {
			return err
		}
	}
}
