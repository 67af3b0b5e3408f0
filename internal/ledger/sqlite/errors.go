package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// ErrFull reports that the disk has no room: nothing of the batch was stored,
// and the same call works again once there is some.
var ErrFull = errors.New("the disk that holds the session store is full: make room and try again")

// ErrClosed reports a call to a ledger after Close.
var ErrClosed = errors.New("the session store is closed")

// ErrUpgraded reports that another program changed the store's layout while
// this one had it open.
var ErrUpgraded = errors.New("the session store was upgraded by another grapnel: restart this one")

// OutdatedError reports a store of an older version, which is upgraded by
// opening it for writing.
type OutdatedError struct {
	Path    string
	Version int
}

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("session store %s has the older version %d and cannot be read before it is upgraded: start grapnel where it can be written", e.Path, e.Version)
}

// UnreadableError reports that the store's files may not be opened by this
// user.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("session store %s cannot be opened: %v: check its owner and permissions", e.Path, e.Err)
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// DamagedError reports that the store is not a sound database. Open has then
// moved it to Moved, with its -wal and -shm files, and opening again starts a
// new one. Moved is empty when it was found later, or others have it open.
type DamagedError struct {
	Path  string
	Moved string
	Err   error
}

func (e *DamagedError) Error() string {
	if e.Moved == "" {
		return fmt.Sprintf("session store %s is damaged: %v: restart grapnel to have it checked and moved aside", e.Path, e.Err)
	}
	return fmt.Sprintf("session store %s is damaged and was moved to %s: %v", e.Path, e.Moved, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ForeignError reports a file that is no session store this program knows: one
// of a newer version, or another program's database. It is left as it is.
type ForeignError struct {
	Path    string
	Version int // 0 when it is no session store at all
	Known   int // the newest version this program knows
}

func (e *ForeignError) Error() string {
	if e.Version == 0 {
		return fmt.Sprintf("%s is a database of another program: move it away, or choose another data directory", e.Path)
	}
	return fmt.Sprintf("session store %s has version %d, this grapnel knows up to %d: upgrade grapnel", e.Path, e.Version, e.Known)
}

// NetworkError reports a store on a file system shared between machines, where
// locks and shared memory do not hold what SQLite needs.
type NetworkError struct{ Path, FileSystem string }

func (e *NetworkError) Error() string {
	return fmt.Sprintf("session store %s is on a network file system (%s), which cannot hold it safely: choose a data directory on a local disk", e.Path, e.FileSystem)
}

// InUseError reports that the store must be upgraded or moved aside first and
// that others have it open.
type InUseError struct {
	Path   string
	Reason string // "upgraded from version 1", "moved aside: it is damaged"
	Peers  []instance.Peer
	Err    error // the damage, if that is the reason
}

func (e *InUseError) Unwrap() error { return e.Err }

func (e *InUseError) Error() string {
	who := make([]string, 0, len(e.Peers))
	for _, p := range e.Peers {
		who = append(who, fmt.Sprintf("process %d (instance %s)", p.PID, p.ID))
	}
	if len(who) == 0 {
		who = append(who, "another process")
	}
	return fmt.Sprintf("session store %s must be %s, but is in use by %s: close it and start again", e.Path, e.Reason, strings.Join(who, ", "))
}

// code is the SQLite result code in err without its extension, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// storeError gives an error of SQLite the meaning callers act on.
func (l *Ledger) storeError(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return l.damaged(err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("%w: %s (%w)", session.ErrReadOnly, l.path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("session store %s is locked by another program: close that one and try again (%w)", l.path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("session store %s: %w: check the disk", l.path, err)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errRow):
		return l.damaged(err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	return err
}

// openError is storeError for what keeps a store from being opened.
func (l *Ledger) openError(err error) error {
	_, aside := errors.AsType[*DamagedError](err)
	_, inUse := errors.AsType[*InUseError](err)
	switch {
	case aside, inUse:
		return err // the cause in it has been dealt with
	case code(err) == sqlite3.SQLITE_CANTOPEN, code(err) == sqlite3.SQLITE_PERM, errors.Is(err, fs.ErrPermission):
		return &UnreadableError{Path: l.path, Err: err}
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %s (%w)", session.ErrReadOnly, l.path, err)
	}
	return l.storeError(err)
}
