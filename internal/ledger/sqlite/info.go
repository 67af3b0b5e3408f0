package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// lastSeq is the last sequence number of the session s: one step down the tree
// of events, however many there are.
const lastSeq = `coalesce((SELECT e.id FROM events e WHERE e.id > s.num << 32 AND e.id < (s.num + 1) << 32
	ORDER BY e.id DESC LIMIT 1), 0) & 4294967295`

const infoColumns = `s.id, s.owner, s.key, s.label, s.agent, s.cwd, s.roots, s.title, s.title_set, s.archived,
	s.parent, s.subagent, s.harness, s.grants, s.created, s.updated, s.instance,
	(SELECT json_group_object(h.owner, h.role) FROM shares h WHERE h.num = s.num), ` + lastSeq

// Info implements [session.Ledger].
func (l *Ledger) Info(ctx context.Context, id string) (session.Info, error) {
	var info session.Info
	found := false
	alive := l.liveness()
	err := l.reader.each(ctx, `SELECT `+infoColumns+` FROM sessions s WHERE s.id = ?`, []any{id}, func(rows *sql.Rows) (err error) {
		found = true
		info, err = scanInfo(rows, alive)
		return err
	})
	if err == nil && !found {
		err = session.ErrNotFound
	}
	return info, l.storeError(err)
}

// scanInfo reads infoColumns, and the columns behind them into extra.
func scanInfo(rows *sql.Rows, alive func(string) bool, extra ...any) (session.Info, error) {
	var (
		i                session.Info
		roots            sql.NullString
		grants           []byte
		created, updated int64
		owner            string
		shares           string
	)
	err := rows.Scan(append([]any{
		&i.ID, &i.Owner, &i.Key, &i.Label, &i.Agent, &i.Cwd, &roots, &i.Title, &i.TitleSet, &i.Archived,
		&i.Parent, &i.Subagent, &i.Foreign, &grants, &created, &updated, &owner, &shares, &i.LastSeq,
	}, extra...)...)
	if err != nil {
		return session.Info{}, err
	}
	if roots.Valid {
		if err := json.Unmarshal([]byte(roots.String), &i.Roots); err != nil {
			return session.Info{}, fmt.Errorf("%w: roots of session %s: %w", errRow, i.ID, err)
		}
	}
	if len(grants) > 0 {
		i.Grants = grants
	}
	if i.Shares, err = readShares(shares); err != nil {
		return session.Info{}, fmt.Errorf("%w: shares of session %s: %w", errRow, i.ID, err)
	}
	i.CreatedAt, i.UpdatedAt = fromUnixNano(created), fromUnixNano(updated)
	i.Active = alive(owner)
	return i, nil
}

// liveness says which instances live, asking once for each: for one page.
func (l *Ledger) liveness() func(instance string) bool {
	known := map[string]bool{"": false}
	return func(id string) bool {
		alive, ok := known[id]
		if !ok {
			alive = l.inst.Alive(id)
			known[id] = alive
		}
		return alive
	}
}

func rootsValue(roots []string) sql.NullString {
	if roots == nil {
		return sql.NullString{}
	}
	text, err := json.Marshal(roots)
	return sql.NullString{String: string(text), Valid: err == nil}
}

// Update implements [session.Ledger].
func (l *Ledger) Update(ctx context.Context, id string, fence session.Fence, change session.InfoChange) error {
	return l.writer.do(ctx, &request{op: func(t *tx) error { return t.update(id, fence, change) }})
}

func (t *tx) update(id string, fence session.Fence, change session.InfoChange) error {
	if err := t.checkEpoch(); err != nil {
		return err
	}
	s, err := t.load(id)
	switch {
	case err != nil:
		return err
	case fence == 0:
		err = t.checkOwner(id)
	case fence != s.fence:
		err = session.ErrFenced
	}
	if err != nil {
		return err
	}
	if err := t.checkChange(s.num, &change); err != nil {
		return err
	}
	t.change(s.num, &change)
	return t.failed
}

// checkChange refuses a patch that takes another session's key.
func (t *tx) checkChange(num int64, c *session.InfoChange) error {
	if c == nil || c.Key == nil {
		return t.failed
	}
	var owner string
	t.row(`SELECT owner FROM sessions WHERE num = ?`, []any{num}, &owner)
	return t.checkKey(owner, *c.Key, num)
}

// change patches a session's row.
func (t *tx) change(num int64, c *session.InfoChange) {
	if c == nil {
		return
	}
	var set []string
	var args []any
	for _, col := range changes(c) {
		set, args = append(set, col.name+" = ?"), append(args, col.value)
	}
	if len(set) > 0 {
		t.exec(`UPDATE sessions SET `+strings.Join(set, ", ")+` WHERE num = ?`, append(args, num)...)
	}
	t.share(num, c.Shares)
}

type column struct {
	name  string
	value any
}

// changes lists the columns a patch sets.
func changes(c *session.InfoChange) []column {
	var cols []column
	text := func(name string, v *string) {
		if v != nil {
			cols = append(cols, column{name, *v})
		}
	}
	flag := func(name string, v *bool) {
		if v != nil {
			cols = append(cols, column{name, *v})
		}
	}
	text("key", c.Key)
	text("label", c.Label)
	text("agent", c.Agent)
	text("cwd", c.Cwd)
	text("title", c.Title)
	text("harness", c.Foreign)
	flag("title_set", c.TitleSet)
	flag("archived", c.Archived)
	if c.Roots != nil {
		cols = append(cols, column{"roots", rootsValue(*c.Roots)})
	}
	if c.Grants != nil {
		cols = append(cols, column{"grants", []byte(*c.Grants)})
	}
	if c.UpdatedAt != nil {
		cols = append(cols, column{"updated", unixNano(*c.UpdatedAt)})
	}
	return cols
}
