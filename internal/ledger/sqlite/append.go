package sqlite

import (
	"context"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Limits of one row, so that reading a page decodes little it does not want.
const (
	rowEvents = 256
	rowBytes  = 256 << 10
)

const (
	// appendSQL stores a row if the session has this fence and the schema this
	// epoch; otherwise it changes nothing.
	appendSQL = `INSERT INTO events (id, data) SELECT ?1, ?2 FROM sessions
		WHERE num = ?3 AND fence = ?4 AND (SELECT epoch FROM schema_version) = ?5`
	holdSQL = `SELECT fence, (SELECT epoch FROM schema_version) FROM sessions WHERE num = ?`

	snapshotSQL = `INSERT OR REPLACE INTO snapshots (num, seq, data) VALUES (?, ?, ?)`
)

// Append implements [session.Ledger].
func (l *Ledger) Append(ctx context.Context, id string, fence session.Fence, b session.Batch) (session.Seq, error) {
	if err := checkEvents(b.Events); err != nil {
		return 0, err
	}
	rows := encodeRows(b.Events)
	r := &request{durable: b.Durable, bytes: len(b.Snapshot)}
	for _, row := range rows {
		r.bytes += len(row.data)
	}
	var last session.Seq
	r.op = func(t *tx) (err error) {
		last, err = t.append(id, fence, rows, &b)
		return err
	}
	if err := l.writer.do(ctx, r); err != nil {
		return 0, err
	}
	return last, nil
}

// checkEvents refuses what could not be stored and read back.
func checkEvents(events []session.Event) error {
	for i := range events {
		m := &events[i].Marks
		for _, s := range [marksCount]session.Span{m.SessionID, m.Meta, m.ToolCallID, m.MessageID} {
			if s.From > s.To || int64(s.To) > int64(len(events[i].Body)) {
				return session.Invalidf("event %s has a mark outside its body", events[i].ID)
			}
		}
	}
	return nil
}

// eventRow is an encoded row and how many events it holds.
type eventRow struct {
	n    int
	data []byte
}

// encodeRows encodes a batch before its transaction begins.
func encodeRows(events []session.Event) []eventRow {
	var rows []eventRow
	for len(events) > 0 {
		n, size := 1, len(events[0].Body)
		for n < len(events) && n < rowEvents && size+len(events[n].Body) <= rowBytes {
			size += len(events[n].Body)
			n++
		}
		rows = append(rows, eventRow{n, appendRow(make([]byte, 0, size+n*eventOverhead), events[:n])})
		events = events[n:]
	}
	return rows
}

// eventOverhead is about what an event takes beside its body.
const eventOverhead = 64

func (t *tx) append(id string, fence session.Fence, rows []eventRow, b *session.Batch) (session.Seq, error) {
	s, err := t.hold(id, fence)
	if err != nil {
		return 0, err
	}
	if err := t.checkChange(s.num, b.Change); err != nil {
		return 0, err
	}
	last := s.last
	for _, row := range rows {
		last += session.Seq(row.n)
		key := eventKey(s.num, uint64(last))
		if t.exec(appendSQL, key, row.data, s.num, int64(fence), t.w.l.epoch) == 0 && t.failed == nil {
			return 0, t.refusal(id, fence)
		}
		t.bytes += pageSize + len(row.data)
	}
	if len(rows) == 0 {
		if err := t.verify(id, s); err != nil {
			return 0, err
		}
	}
	s.last = last
	if b.Snapshot != nil {
		t.exec(snapshotSQL, s.num, int64(last), b.Snapshot)
		t.bytes += pageSize + len(b.Snapshot)
	}
	t.index(s.num, b.Docs)
	t.change(s.num, b.Change)
	return last, t.failed
}

// verify finds out what the insert of events finds out by itself: whether this
// instance may still write to the session.
func (t *tx) verify(id string, s *owned) error {
	var fence, epoch int64
	found := t.row(holdSQL, []any{s.num}, &fence, &epoch)
	if t.failed != nil || found && session.Fence(fence) == s.fence && epoch == t.w.l.epoch {
		return t.failed
	}
	return t.refusal(id, s.fence)
}

// hold returns the session as this instance owns it, from memory when it is
// there: the insert finds out whether that is still true.
func (t *tx) hold(id string, fence session.Fence) (*owned, error) {
	s := t.w.owned[id]
	if s == nil || s.fence != fence {
		var err error
		if s, err = t.load(id); err != nil {
			return nil, err
		}
		if s.fence != fence {
			return nil, session.ErrFenced
		}
		t.w.owned[id] = s
	}
	t.touched = append(t.touched, id)
	return s, nil
}

// load reads what appends need to know of a session.
func (t *tx) load(id string) (*owned, error) {
	var num, fence, last int64
	ok := t.row(`SELECT s.num, s.fence, `+lastSeq+` FROM sessions s WHERE s.id = ?`, []any{id}, &num, &fence, &last)
	if t.failed != nil {
		return nil, t.failed
	}
	if !ok {
		return nil, session.ErrNotFound
	}
	return &owned{num: num, fence: session.Fence(fence), last: session.Seq(last)}, nil
}

// refusal says why a session could not be appended to, after the insert found
// it changed.
func (t *tx) refusal(id string, fence session.Fence) error {
	delete(t.w.owned, id)
	if err := t.checkEpoch(); err != nil {
		return err
	}
	s, err := t.load(id)
	if err != nil {
		return err
	}
	if s.fence == fence {
		// The number was another session's that is gone.
		return session.ErrNotFound
	}
	return session.ErrFenced
}

// checkEpoch refuses to write to a schema this program did not open.
func (t *tx) checkEpoch() error {
	var epoch int64
	if t.row(`SELECT epoch FROM schema_version`, nil, &epoch) && epoch != t.w.l.epoch {
		return ErrUpgraded
	}
	return t.failed
}
