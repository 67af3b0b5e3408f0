package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// pageBytes ends a page early, so that no reader holds more than about this
// much (and one event) of a session whose events are large.
const pageBytes = 1 << 20

var errPageFull = errors.New("page is full")

// Read implements [session.Ledger]. It returns fewer than limit events when
// they are large.
func (l *Ledger) Read(ctx context.Context, id string, after session.Seq, limit int) ([]session.Event, error) {
	num, err := l.number(ctx, id)
	if err != nil || limit <= 0 {
		return nil, err
	}
	p := page{after: after, limit: limit, events: make([]session.Event, 0, min(limit, rowEvents))}
	from, to := eventKey(num, uint64(min(after, seqMask))), eventKey(num, seqMask)
	err = l.reader.each(ctx, `SELECT id, data FROM events WHERE id > ? AND id <= ? ORDER BY id`, []any{from, to}, p.add)
	if err != nil && !errors.Is(err, errPageFull) {
		return nil, l.storeError(err)
	}
	return p.events, nil
}

// page collects the events of one Read.
type page struct {
	after  session.Seq
	limit  int
	size   int
	events []session.Event
}

// add takes the events of a row that the page wants.
func (p *page) add(rows *sql.Rows) error {
	var key int64
	var data []byte
	if err := rows.Scan(&key, &data); err != nil {
		return err
	}
	start := len(p.events)
	events, err := decodeRow(p.events, data)
	if err != nil {
		return err
	}
	got := events[start:]
	if len(got) == 0 || uint64(len(got)) > uint64(key&seqMask) {
		return fmt.Errorf("%w: it holds %d events up to number %d", errRow, len(got), key&seqMask)
	}
	first := session.Seq(key&seqMask) - session.Seq(len(got)) + 1
	for i := range got {
		got[i].Seq = first + session.Seq(i)
	}
	skip := 0
	if p.after >= first {
		skip = int(p.after-first) + 1
	}
	keep := min(len(got)-skip, p.limit-start)
	p.events = append(events[:start], got[skip:skip+keep]...)
	p.size += len(data)
	if len(p.events) == p.limit || p.size >= pageBytes {
		return errPageFull
	}
	return nil
}

// number is the session's number in the keys of its events.
func (l *Ledger) number(ctx context.Context, id string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var num int64
	ok, err := l.reader.row(`SELECT num FROM sessions WHERE id = ?`, []any{id}, &num)
	if err == nil && !ok {
		err = session.ErrNotFound
	}
	return num, l.storeError(err)
}

// Snapshot implements [session.Ledger].
func (l *Ledger) Snapshot(ctx context.Context, id string) ([]byte, session.Seq, error) {
	num, err := l.number(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	var data []byte
	var seq int64
	if _, err := l.reader.row(`SELECT data, seq FROM snapshots WHERE num = ?`, []any{num}, &data, &seq); err != nil {
		return nil, 0, l.storeError(err)
	}
	return data, session.Seq(seq), nil
}
