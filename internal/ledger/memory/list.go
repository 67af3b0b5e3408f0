package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// List implements session.Ledger. A cursor names the last row given.
func (l *Ledger) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, "", err
	}
	rows := l.matching(f)
	start, err := after(rows, f, cursor)
	if err != nil || limit <= 0 {
		return nil, "", err
	}
	rows = rows[start:]
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = cursorFor(f, rows[limit-1])
	}
	var page []session.Info
	for _, r := range rows {
		page = append(page, r.view())
	}
	return page, next, nil
}

func (l *Ledger) matching(f session.Filter) []*record {
	var out []*record
	for _, r := range l.sessions {
		if matches(f, r.info) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, newestFirst)
	return out
}

func newestFirst(a, b *record) int {
	return cmp.Or(b.info.UpdatedAt.Compare(a.info.UpdatedAt), cmp.Compare(b.num, a.num))
}

func matches(f session.Filter, info session.Info) bool {
	same := func(want, have string) bool { return want == "" || want == have }
	switch {
	case f.Archived == session.ExcludeArchived && info.Archived,
		f.Archived == session.OnlyArchived && !info.Archived,
		info.Subagent && !f.Subagents && f.Parent == "":
		return false
	}
	if len(f.Agents) > 0 && !slices.Contains(f.Agents, info.Agent) {
		return false
	}
	return reaches(f, info) && same(f.Agent, info.Agent) && same(f.Cwd, info.Cwd) &&
		same(f.Key, info.Key) && same(f.Label, info.Label) && same(f.Parent, info.Parent)
}

// reaches reports whether the filter's owner may know of the session.
func reaches(f session.Filter, info session.Info) bool {
	if f.Owner == "" || !f.Shared {
		return f.Owner == "" || f.Owner == info.Owner
	}
	_, ok := info.RoleOf(f.Owner)
	return ok
}

// cursorFor is the place in the order of the last row given.
func cursorFor(f session.Filter, last *record) string {
	return session.NewCursor(f, fmt.Appendf(nil, "%d %d", last.info.UpdatedAt.UnixNano(), last.num))
}

// after finds the row a cursor continues at. The row it names may be gone or
// have moved since; its place in the order still counts.
func after(rows []*record, f session.Filter, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	place, err := session.PlaceOf(f, cursor)
	if err != nil {
		return 0, err
	}
	var num uint64
	var nanos int64
	if _, err := fmt.Sscanf(string(place), "%d %d", &nanos, &num); err != nil {
		return 0, session.ErrBadCursor
	}
	i := slices.IndexFunc(rows, func(r *record) bool {
		return cmp.Or(cmp.Compare(nanos, r.info.UpdatedAt.UnixNano()), cmp.Compare(num, r.num)) > 0
	})
	if i < 0 {
		return len(rows), nil
	}
	return i, nil
}
