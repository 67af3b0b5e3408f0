package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

// prepare makes sure the database is a store of this program's layout, sound as
// far as a cheap look tells, and writable. Nothing is written to a file that is
// not ours. It leaves the users lock held shared.
func (l *Ledger) prepare(ctx context.Context, conn *sql.Conn) error {
	version, err := l.identify(ctx, conn)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	switch {
	case version == 0:
		err = create(ctx, conn)
	case version < l.layout.version:
		err = l.migrate(ctx, conn, version)
	default:
		err = l.probe(ctx, conn)
	}
	if err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT epoch FROM schema_version").Scan(&l.epoch); err != nil {
		return err
	}
	return l.lockError(filelock.LockWithin(l.users, filelock.Shared, lockBound))
}

// identify returns the version of the store; 0 for an empty file.
func (l *Ledger) identify(ctx context.Context, conn *sql.Conn) (int, error) {
	var app, tables, version int
	err := conn.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), count(*) FROM sqlite_schema").Scan(&app, &tables)
	if err != nil || app == 0 && tables == 0 {
		return 0, err
	}
	if app != applicationID {
		return 0, &ForeignError{Path: l.path}
	}
	err = conn.QueryRowContext(ctx, "SELECT version FROM schema_version").Scan(&version)
	if err == nil && version > l.layout.version {
		err = &ForeignError{Path: l.path, Version: version, Known: l.layout.version}
	}
	return version, err
}

func create(ctx context.Context, conn *sql.Conn) error {
	return transact(ctx, conn, fmt.Sprintf("PRAGMA application_id = %d;", applicationID)+schema)
}

// transact runs a script, all or nothing.
func transact(ctx context.Context, conn *sql.Conn, script string) error {
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE;"+script+";COMMIT")
	if err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// probe looks for damage where it costs nothing: the newest session and its
// newest events, and whether a transaction may write. After damage was met
// while running, it checks everything once.
func (l *Ledger) probe(ctx context.Context, conn *sql.Conn) error {
	if _, err := os.Stat(l.path + suspectSuffix); err == nil {
		if err := l.check(ctx, conn); err != nil {
			return err
		}
	}
	if err := transact(ctx, conn, ""); err != nil {
		return err
	}
	var id string
	var data []byte
	err := conn.QueryRowContext(ctx, "SELECT id FROM sessions ORDER BY num DESC LIMIT 1").Scan(&id)
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT data FROM events ORDER BY id DESC LIMIT 1").Scan(&data)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = decodeRow(nil, data)
	}
	return err
}

// migrate brings an older store to this layout, with a backup made first, while
// nobody else has it open.
func (l *Ledger) migrate(ctx context.Context, conn *sql.Conn, version int) error {
	if err := l.alone(fmt.Sprintf("upgraded from version %d", version)); err != nil {
		return err
	}
	backup := fmt.Sprintf("%s.backup-v%d-%s", l.path, version, stamp())
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", backup); err != nil {
		return fmt.Errorf("back up the session store to %s before upgrading it: %w", backup, err)
	}
	if err := os.Chmod(backup, filePerm); err != nil {
		return err
	}
	script := ""
	for v := version; v < l.layout.version; v++ {
		script += l.layout.steps[v] + ";"
	}
	script += fmt.Sprintf("UPDATE schema_version SET version = %d, epoch = epoch + 1", l.layout.version)
	if err := transact(ctx, conn, script); err != nil {
		return fmt.Errorf("upgrade the session store from version %d (a copy is in %s): %w", version, backup, err)
	}
	return nil
}

// alone takes the users lock for itself, or says who else has the store open.
// What it is wanted for completes "must be …".
func (l *Ledger) alone(reason string) error {
	err := filelock.TryLock(l.users, filelock.Exclusive)
	if errors.Is(err, filelock.ErrHeld) {
		return &InUseError{Path: l.path, Reason: reason, Peers: l.inst.Peers()}
	}
	return err
}

func stamp() string { return time.Now().UTC().Format("20060102T150405.000") }
