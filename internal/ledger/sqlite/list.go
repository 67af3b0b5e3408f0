package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// List implements [session.Ledger].
func (l *Ledger) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	if limit <= 0 {
		return nil, "", session.Invalidf("a list page needs a limit above 0, not %d", limit)
	}
	where, args := conditions(f)
	if cursor != "" {
		updated, id, err := parseCursor(f, cursor)
		if err != nil {
			return nil, "", err
		}
		where, args = append(where, "(s.updated, s.id) < (?, ?)"), append(args, updated, id)
	}
	// One more than the page tells whether there is another.
	query := `SELECT ` + infoColumns + ` FROM sessions s` + whereClause(where) + ` ORDER BY s.updated DESC, s.id DESC LIMIT ?`
	infos := make([]session.Info, 0, min(limit, 256))
	alive := l.liveness()
	err := l.reader.each(ctx, query, append(args, limit+1), func(rows *sql.Rows) error {
		info, err := scanInfo(rows, alive)
		infos = append(infos, info)
		return err
	})
	if err != nil {
		return nil, "", l.storeError(err)
	}
	if len(infos) <= limit {
		return infos, "", nil
	}
	infos = infos[:limit]
	return infos, makeCursor(f, infos[limit-1]), nil
}

// conditions is what a filter asks of a session s.
func conditions(f session.Filter) (where []string, args []any) {
	for _, c := range []struct{ name, value string }{
		{"agent", f.Agent},
		{"cwd", f.Cwd},
		{"key", f.Key},
		{"label", f.Label},
		{"parent", f.Parent},
	} {
		if c.value != "" {
			where, args = append(where, "s."+c.name+" = ?"), append(args, c.value)
		}
	}
	switch {
	case f.Owner != "" && f.Shared:
		where = append(where, "(s.owner = ? OR s.num IN (SELECT h.num FROM shares h WHERE h.owner = ?))")
		args = append(args, f.Owner, f.Owner)
	case f.Owner != "":
		where, args = append(where, "s.owner = ?"), append(args, f.Owner)
	}
	if len(f.Agents) > 0 {
		where = append(where, "s.agent IN (?"+strings.Repeat(", ?", len(f.Agents)-1)+")")
		for _, a := range f.Agents {
			args = append(args, a)
		}
	}
	switch f.Archived {
	case session.ExcludeArchived:
		where = append(where, "s.archived = 0")
	case session.OnlyArchived:
		where = append(where, "s.archived = 1")
	}
	if !f.Subagents && f.Parent == "" {
		where = append(where, "s.subagent = 0")
	}
	return where, args
}

func whereClause(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// A cursor's place is that of the last session of a page: its UpdatedAt and its
// id.
func makeCursor(f session.Filter, last session.Info) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(unixNano(last.UpdatedAt)))
	return session.NewCursor(f, append(b, last.ID...))
}

func parseCursor(f session.Filter, cursor string) (updated int64, id string, err error) {
	b, err := session.PlaceOf(f, cursor)
	if err != nil || len(b) < 8+1 {
		return 0, "", session.ErrBadCursor
	}
	return int64(binary.BigEndian.Uint64(b)), string(b[8:]), nil
}
