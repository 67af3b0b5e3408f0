package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// mirror is a copy of the files of /etc that programs need. Every mount costs a
// command a tenth of a millisecond, and those files would be fifty.
type mirror struct {
	mu   sync.Mutex
	dir  string // "" while there is none
	seen map[string]string
}

// Bounds of what is copied: /etc is small, except where it is not.
const (
	mirrorFile  = 4 << 20
	mirrorDepth = 6
)

// update makes the copy what /etc is now and returns it. below is where it is
// made when there is none.
func (m *mirror) update(below string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dir == "" {
		dir, err := os.MkdirTemp(below, "etc-")
		if err != nil {
			return "", err
		}
		m.dir, m.seen = dir, make(map[string]string)
		if err := os.Chmod(dir, 0o755); err != nil {
			return "", err
		}
	}
	for _, path := range etcPlaces() {
		state := stateOf(path)
		if state == m.seen[path] {
			continue
		}
		at := filepath.Join(m.dir, strings.TrimPrefix(path, "/etc"))
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755)); err != nil {
			return "", err
		}
		if err := copyTree(at, path, mirrorDepth); err != nil {
			return "", err
		}
		m.seen[path] = state
	}
	return m.dir, nil
}

// stateOf tells one state of a place from another, "" where there is nothing.
func stateOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return info.ModTime().String() + info.Mode().String() + path
}

// copyTree copies what is at from to at. Links stay links where their target
// is in sight; where it is not, what they lead to is copied. What cannot be read
// is left out, as it cannot be read anyway.
func copyTree(at, from string, depth int) error {
	info, err := os.Lstat(from)
	if err != nil {
		return nil
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err := os.Readlink(from); err == nil && staysInSight(target) {
			return os.Symlink(target, at)
		}
		if info, err = os.Stat(from); err != nil {
			return nil
		}
	}
	switch {
	case info.IsDir() && depth > 0:
		return copyDir(at, from, depth)
	case info.Mode().IsRegular() && info.Size() <= mirrorFile && info.Mode().Perm()&0o004 != 0: // what is for everybody is no secret
		data, err := os.ReadFile(from)
		if err != nil {
			return nil
		}
		return os.WriteFile(at, data, info.Mode().Perm()|0o444)
	}
	return nil
}

func copyDir(at, from string, depth int) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	entries, _ := os.ReadDir(from)
	for _, e := range entries {
		if err := copyTree(filepath.Join(at, e.Name()), filepath.Join(from, e.Name()), depth-1); err != nil {
			return err
		}
	}
	return nil
}

// staysInSight reports whether a link leads to where commands see the same.
func staysInSight(target string) bool {
	return !filepath.IsAbs(target) && !strings.Contains(target, "..") ||
		withinAny(filepath.Clean(target), []string{"/usr", "/etc/ssl", "/etc/alternatives", "/etc/pki", "/nix"}) ||
		strings.HasPrefix(target, "../usr/") || strings.HasPrefix(target, "../../usr/")
}
