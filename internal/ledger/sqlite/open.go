package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
)

const (
	commitSuffix = ".commit.lock"
	usersSuffix  = ".users.lock"

	// busyTimeout is how long a commit waits for programs that do not know the
	// commit lock, such as the sqlite3 shell.
	busyTimeout = 5 * time.Second
	// maxReaders reads run at once; more wait.
	maxReaders = 4
	// readerIdle is when a connection that is not needed gives back its memory
	// (up to 2 MB of cache).
	readerIdle = time.Minute
)

// Open opens the store at path for an instance, and makes it (0600, in a
// directory 0700) when it is missing. Errors, by type:
//
//   - *DamagedError: the file was moved aside; opening again starts a new store
//   - *ForeignError: it is of a newer version, or no store of ours
//   - *InUseError: it must be upgraded, or moved aside, and others have it open
//   - *NetworkError: it is on a network file system
//   - *UnreadableError, session.ErrReadOnly, ErrFull: the file system says no
func Open(ctx context.Context, path string, inst *instance.Instance) (*Ledger, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// SQLite keeps its log beside the file itself, so the locks go there too.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return (&Ledger{path: path, inst: inst, layout: current, walLimit: walBytes}).opened(ctx)
}

// opened is l once its store is open.
func (l *Ledger) opened(ctx context.Context) (*Ledger, error) {
	if err := l.open(ctx); err != nil {
		return nil, l.openError(err)
	}
	l.checkpointer.start()
	return l, nil
}

func (l *Ledger) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	if err := CheckFileSystem(l.path); err != nil {
		return err
	}
	lock, err := filelock.Open(l.path + commitSuffix)
	if err != nil {
		return err
	}
	l.users, err = filelock.Open(l.path + usersSuffix)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.users.Close(), lock.Close())
		}
	}()
	if err := filelock.LockWithin(lock, filelock.Exclusive, lockBound); err != nil {
		return l.lockError(err)
	}
	defer unlock(lock)
	return l.connect(ctx, lock)
}

// connect opens the database, which the commit lock keeps others from opening
// or writing meanwhile.
func (l *Ledger) connect(ctx context.Context, lock *os.File) (err error) {
	if err := l.checkFiles(); err != nil {
		return l.setAside(err)
	}
	if l.writes, err = openDB(l.path, "synchronous(NORMAL)", "wal_autocheckpoint(0)"); err != nil {
		return err
	}
	if l.reads, err = openDB(l.path, "query_only(1)"); err != nil {
		return err
	}
	l.reads.SetMaxOpenConns(maxReaders)
	l.reads.SetMaxIdleConns(maxReaders)
	l.reads.SetConnMaxIdleTime(readerIdle)
	// The writer's connection is in use all the time; another is only needed
	// now and then, to move the log.
	l.writes.SetMaxIdleConns(-1)
	conn, err := l.writes.Conn(ctx)
	if err == nil {
		if err = l.prepare(ctx, conn); err != nil {
			_ = conn.Close()
		}
	}
	if err != nil {
		_, _ = l.writes.Close(), l.reads.Close()
		return l.setAside(err)
	}
	l.reader = newStatements(l.reads)
	l.writer = newWriter(l, lock, conn)
	l.checkpointer = newCheckpointer(l)
	return nil
}

// openDB names the database; nothing is opened before its first use. New files
// get the permissions of the lock file.
func openDB(path string, pragmas ...string) (*sql.DB, error) {
	return openURI(path, url.Values{"modeof": {path + commitSuffix}}, pragmas...)
}

func openURI(path string, q url.Values, pragmas ...string) (*sql.DB, error) {
	pragmas = append(pragmas, "busy_timeout("+strconv.FormatInt(busyTimeout.Milliseconds(), 10)+")")
	q["_pragma"], q["_dqs"], q["_defensive"] = pragmas, []string{"0"}, []string{"1"}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	// SQLite takes + for itself, not for a blank.
	query := strings.ReplaceAll(q.Encode(), "+", "%20")
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query, OmitHost: true}
	return sql.Open("sqlite", u.String())
}

// Exists reports whether there is a store at path, or what is left of one.
// Nothing is opened.
func Exists(path string) bool {
	for _, name := range []string{path, path + walSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}
