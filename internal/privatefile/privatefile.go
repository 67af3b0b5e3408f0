// Package privatefile writes files that only their user may read, such as those
// that hold credentials: in full or not at all.
package privatefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts data in place of the file at path, or makes it, in one step: who
// reads meanwhile gets all of the one or of the other, and a crash leaves one of
// them. The directory must exist. Of several writers at once the last one wins.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // readable by its user only
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
