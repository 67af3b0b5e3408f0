package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Store looks at the session store without changing it: where it is, whether it
// is sound and of this version, and whether it can be written.
func Store(ctx context.Context, path string, peers *instance.Instance) []Finding {
	if err := sqlite.CheckFileSystem(path); err != nil {
		return []Finding{fail("store", "set data_dir to a directory on a local disk", "%v", err)}
	}
	if !sqlite.Exists(path) {
		if dir := Directory("store", filepath.Dir(path)); dir.Status != OK {
			return []Finding{dir}
		}
		return []Finding{ok("store", "%s does not exist yet; it is made with the first session", path)}
	}
	l, err := sqlite.OpenReadOnly(ctx, path, peers)
	if err != nil {
		return []Finding{storeFinding(err)}
	}
	defer l.Close()
	if err := l.Check(ctx); err != nil {
		return []Finding{storeFinding(err)}
	}
	sessions, err := count(ctx, l)
	if err != nil {
		return []Finding{storeFinding(err)}
	}
	found := []Finding{ok("store", "%s is sound: version %d, %d sessions", path, l.Version(), sessions)}
	for _, p := range []string{path, filepath.Dir(path)} {
		if err := writable(p); err != nil {
			found = append(found, warn("store", "check the owner and permissions of "+p+", and that the disk is not read-only",
				"%s cannot be written (%v): sessions can be read, new ones are kept in memory only", p, err))
			break
		}
	}
	return found
}

func count(ctx context.Context, l *sqlite.Ledger) (int, error) {
	const page = 512
	n := 0
	for cursor := ""; ; {
		infos, next, err := l.List(ctx, session.Filter{Archived: session.IncludeArchived}, cursor, page)
		if n += len(infos); err != nil || next == "" {
			return n, err
		}
		cursor = next
	}
}

func storeFinding(err error) Finding {
	fix := ""
	switch {
	case errors.As(err, new(*sqlite.DamagedError)):
		fix = "keep a copy; the next start moves it aside and begins a new one; sqlite3 FILE .recover may bring its sessions back"
	case errors.As(err, new(*sqlite.ForeignError)):
		fix = "upgrade grapnel, or set data_dir to another directory"
	case errors.As(err, new(*sqlite.OutdatedError)):
		return warn("store", "start grapnel once, which upgrades it after a backup", "%v", err)
	case errors.As(err, new(*sqlite.UnreadableError)):
		fix = "give yourself the right to read and write it"
	}
	return fail("store", fix, "%v", err)
}

// Instances says which other processes use the same store. They share it; this
// is no fault.
func Instances(peers *instance.Instance) Finding {
	all := peers.Peers()
	if len(all) == 0 {
		return ok("instances", "no other grapnel is running here")
	}
	pids := make([]string, len(all))
	for i, p := range all {
		pids[i] = strconv.Itoa(p.PID)
	}
	return ok("instances", "the store is shared with %d running: process %s", len(all), strings.Join(pids, ", "))
}
