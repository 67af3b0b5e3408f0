package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	filePerm = 0o600

	walSuffix = "-wal"
	shmSuffix = "-shm"
	// suspectSuffix marks a store in which damage was met.
	suspectSuffix = ".suspect"
)

// errNoDatabase reports a log whose database is gone. SQLite would delete it.
var errNoDatabase = errors.New("its log is there, its database is missing or empty")

// errCheck reports what SQLite's own check found.
var errCheck = errors.New("the check of the database found an error")

// checkFiles looks at the files before SQLite does, and takes them from other
// users if they were open to them.
func (l *Ledger) checkFiles() error {
	db, err := fileSize(l.path)
	if err != nil {
		return err
	}
	wal, err := fileSize(l.path + walSuffix)
	if err != nil {
		return err
	}
	if _, err := fileSize(l.path + shmSuffix); err != nil {
		return err
	}
	if db == 0 && wal > 0 {
		return errNoDatabase
	}
	return nil
}

// fileSize is the size of a file of the store, 0 when it is missing. It leaves
// the file to its owner only.
func fileSize(path string) (int64, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !st.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file: move it away", path)
	}
	if st.Mode().Perm()&^filePerm != 0 {
		_ = os.Chmod(path, st.Mode().Perm()&filePerm) // not ours to change: its owner's matter
	}
	return st.Size(), nil
}

// setAside moves a damaged store out of the way, so that the next Open starts a
// new one, and says where it is. Other errors are returned as they are.
func (l *Ledger) setAside(cause error) error {
	if !isDamage(cause) {
		return cause
	}
	err := l.alone("moved aside, for it is damaged")
	if inUse, ok := errors.AsType[*InUseError](err); ok {
		inUse.Err = cause
	}
	if err != nil {
		return err
	}
	moved := l.path + ".damaged-" + stamp()
	for _, suffix := range []string{"", walSuffix, shmSuffix} {
		err = os.Rename(l.path+suffix, moved+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &DamagedError{Path: l.path, Err: fmt.Errorf("%w, and it cannot be moved aside (%w)", cause, err)}
		}
	}
	_ = os.Remove(l.path + suspectSuffix)
	return &DamagedError{Path: l.path, Moved: moved, Err: cause}
}

func isDamage(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || errors.Is(err, errNoDatabase) ||
		errors.Is(err, errCheck) || errors.Is(err, errRow)
}

// markSuspect leaves a note for the next Open. If it cannot, that one just does
// not look as closely.
func markSuspect(path string) {
	if f, err := os.OpenFile(path+suspectSuffix, os.O_CREATE|os.O_WRONLY, filePerm); err == nil {
		_ = f.Close()
	}
}

// check reads the whole database once, and takes the note away when it is
// sound.
func (l *Ledger) check(ctx context.Context, conn *sql.Conn) error {
	if err := quickCheck(ctx, conn); err != nil {
		return err
	}
	return os.Remove(l.path + suspectSuffix)
}

func quickCheck(ctx context.Context, conn *sql.Conn) error {
	var result string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("%w: %s", errCheck, result)
	}
	return nil
}
