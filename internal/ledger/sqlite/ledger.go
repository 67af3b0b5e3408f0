package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

var _ session.Ledger = (*Ledger)(nil)

// Ledger is a [session.Ledger] in an SQLite database. It is safe for concurrent
// use.
type Ledger struct {
	path     string
	inst     *instance.Instance
	layout   layout
	walLimit int64 // bytes
	epoch    int64 // of the schema, as opened

	users  *os.File // held shared while open
	writes *sql.DB
	reads  *sql.DB

	readOnly     bool // there are only reads and reader; writer refuses
	writer       *writer
	reader       *statements
	checkpointer *checkpointer

	closing sync.Once
	closed  error
}

// Path is the database file.
func (l *Ledger) Path() string { return l.path }

// Close waits for running commits, gives up the sessions this instance owns and
// closes the store. Later calls of any method fail with ErrClosed.
func (l *Ledger) Close() error {
	l.closing.Do(func() {
		if l.readOnly {
			l.closed = errors.Join(l.reader.close(), l.reads.Close())
			return
		}
		l.checkpointer.close()
		l.closed = errors.Join(l.reader.close(), l.reads.Close(), l.writer.close((*tx).releaseAll), l.writes.Close(),
			l.users.Close(), l.writer.lock.Close())
	})
	return l.closed
}

// damaged is the error for damage found while the store is open; the next Open
// looks closer because of it.
func (l *Ledger) damaged(err error) error {
	if !l.readOnly {
		markSuspect(l.path)
	}
	return &DamagedError{Path: l.path, Err: err}
}

// lockBound is how long this process waits for the store's locks. Others hold
// them for milliseconds, a slow disk for a second or two; one that has them for
// longer was stopped.
const lockBound = 10 * time.Second

// lockError says what to do about a lock that others do not let go.
func (l *Ledger) lockError(err error) error {
	if !errors.Is(err, filelock.ErrHeld) {
		return err
	}
	return fmt.Errorf("the session store %s is locked by another process (%w): if one was stopped, continue or end it; grapnel doctor lists those of this configuration", l.path, err)
}

// unlock is filelock.Unlock for defer, where nothing is left to do about an
// error: the lock ends with its file at the latest.
func unlock(f *os.File) { _ = filelock.Unlock(f) }
