package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
)

// OpenReadOnly opens the store at path for reading: it makes, moves and
// upgrades nothing, and works where nothing may be written. Methods that write
// fail with session.ErrReadOnly. inst tells which owners live. Errors, by type:
//
//   - fs.ErrNotExist: there is no store, or an empty one
//   - *DamagedError: it is not a sound database; it was left where it is
//   - *ForeignError, *OutdatedError: it is of another version, or no store of ours
//   - *UnreadableError: the file system says no
func OpenReadOnly(ctx context.Context, path string, inst *instance.Instance) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &Ledger{path: path, inst: inst, layout: current, readOnly: true}
	l.writer = &writer{l: l}
	if err := l.openReadOnly(ctx); err != nil {
		return nil, l.readError(err)
	}
	return l, nil
}

func (l *Ledger) openReadOnly(ctx context.Context) error {
	st, err := os.Stat(l.path)
	if err != nil {
		return err
	}
	log, err := os.Stat(l.path + walSuffix)
	hasLog := err == nil && log.Size() > 0
	switch {
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: move it away", l.path)
	case st.Size() == 0 && hasLog:
		return errNoDatabase
	case st.Size() == 0:
		return fmt.Errorf("session store %s is empty: %w", l.path, fs.ErrNotExist)
	}
	err = l.connectReader(ctx, "mode", "ro")
	if code(err) == sqlite3.SQLITE_CANTOPEN && !hasLog {
		// SQLite wants to make its shared memory file, and may not. Without a
		// log there is nothing it would be needed for.
		err = l.connectReader(ctx, "immutable", "1")
	}
	return err
}

// connectReader opens the database with one more URI parameter.
func (l *Ledger) connectReader(ctx context.Context, option, value string) (err error) {
	if l.reads, err = openReader(l.path, option, value); err != nil {
		return err
	}
	if err := l.recognise(ctx); err != nil {
		_ = l.reads.Close()
		return err
	}
	l.reader = newStatements(l.reads)
	return nil
}

func (l *Ledger) recognise(ctx context.Context) error {
	conn, err := l.reads.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := l.identify(ctx, conn)
	if err == nil && version < l.layout.version {
		err = &OutdatedError{Path: l.path, Version: version}
	}
	return err
}

func openReader(path, option, value string) (*sql.DB, error) {
	db, err := openURI(path, map[string][]string{option: {value}}, "query_only(1)")
	if err == nil {
		db.SetMaxOpenConns(maxReaders)
	}
	return db, err
}

// readError is openError for a store that was only looked at.
func (l *Ledger) readError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case isDamage(err):
		return &DamagedError{Path: l.path, Err: err}
	}
	return l.openError(err)
}

// Version is the layout of the stores this program writes.
func (l *Ledger) Version() int { return l.layout.version }

// Check reads the whole database and returns a *DamagedError when it is not
// sound. It takes about a second per gigabyte.
func (l *Ledger) Check(ctx context.Context) error {
	conn, err := l.reads.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := quickCheck(ctx, conn); err != nil {
		return l.readError(err)
	}
	return nil
}
