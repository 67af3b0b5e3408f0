package sqlite

import (
	"context"
	"database/sql"
	"encoding/base64"
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
		updated, id, err := parseCursor(cursor)
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
	return infos, makeCursor(infos[limit-1]), nil
}

// conditions is what a filter asks of a session s.
func conditions(f session.Filter) (where []string, args []any) {
	for _, c := range []struct{ name, value string }{
		{"owner", f.Owner},
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

// A cursor is the place of the last session of a page: a version byte, its
// UpdatedAt and its id.
const cursorVersion = 1

func makeCursor(last session.Info) string {
	b := binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(unixNano(last.UpdatedAt)))
	return base64.RawURLEncoding.EncodeToString(append(b, last.ID...))
}

func parseCursor(cursor string) (updated int64, id string, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// The decoder skips line breaks.
	if err != nil || strings.ContainsAny(cursor, "\r\n") || len(b) < 1+8+1 || b[0] != cursorVersion {
		return 0, "", session.ErrBadCursor
	}
	return int64(binary.BigEndian.Uint64(b[1:])), string(b[1+8:]), nil
}
