package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// partialSuffix marks a copy that is not whole yet.
const partialSuffix = ".partial"

// Backup writes a whole and sound copy of the store, as it is at one moment, to
// path, which must not exist. Instances may go on appending meanwhile. The file
// is for its user only, and is there in full or not at all.
func (l *Ledger) Backup(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return fmt.Errorf("back up the session store to %s: %w: name a file that is not there yet", path, err)
	}
	partial := path + partialSuffix
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_RDWR, filePerm)
	if err != nil {
		return fmt.Errorf("back up the session store: %w", err)
	}
	err = l.copyTo(ctx, partial)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close()) // before it is renamed: Windows lets no open file be
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		_ = os.Remove(partial) // the failure itself is told
		return fmt.Errorf("back up the session store to %s: %w", path, err)
	}
	return nil
}

// copyTo fills an empty file.
func (l *Ledger) copyTo(ctx context.Context, path string) error {
	conn, err := l.reads.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil { // of this store nothing is written
		return err
	}
	_, err = conn.ExecContext(ctx, "VACUUM INTO ?", path)
	_, undo := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
	return errors.Join(err, undo)
}
