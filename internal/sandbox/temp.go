package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// makeTemp makes a directory for the temporary files of one session.
func (l *Ladder) makeTemp() (string, error) {
	base, pattern := l.opts.Temp, ""
	if base == "" || os.MkdirAll(base, 0o700) != nil {
		base, pattern = "", "grapnel-" // the system's
	}
	dir, err := os.MkdirTemp(base, pattern)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// etc returns a copy of what programs need of /etc, as it is now.
func (l *Ladder) etc() (string, error) {
	base := l.opts.Temp
	if base == "" || os.MkdirAll(base, 0o700) != nil {
		base = ""
	}
	return l.mirror.update(base)
}

// Close removes the files that the sessions of the process had in common.
func (l *Ladder) Close() error {
	l.mirror.mu.Lock()
	defer l.mirror.mu.Unlock()
	if l.mirror.dir == "" {
		return nil
	}
	dir := l.mirror.dir
	l.mirror.dir = ""
	return os.RemoveAll(dir)
}

// Sweep removes the temporary files that processes left which are no longer
// alive. base holds one directory for each, named by its id.
func Sweep(base string, alive func(id string) bool) error {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if !alive(e.Name()) {
			errs = append(errs, removeAll(filepath.Join(base, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// removeAll removes a tree that commands have written, also directories that
// they have made read-only. Links are removed and not followed.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
