package sqlite

import (
	"os"
	"path/filepath"
)

// CheckFileSystem returns a *NetworkError when a store at path is, or would be,
// on a file system shared between machines. What cannot be told is taken for a
// local disk.
func CheckFileSystem(path string) error {
	dir := existing(filepath.Dir(path))
	if name := networkFileSystem(dir); name != "" {
		return &NetworkError{Path: path, FileSystem: name}
	}
	return nil
}

// existing is dir without links, or the nearest directory above it that exists.
func existing(dir string) string {
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		up := filepath.Dir(dir)
		if _, err := os.Lstat(up); err != nil && up == dir {
			return dir
		}
		dir = up
	}
}
