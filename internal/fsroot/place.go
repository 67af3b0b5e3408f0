package fsroot

import (
	"errors"
	"path/filepath"
)

// Place is what the policy needs to know of a path it only heard of, such as an
// argument of a command.
type Place struct {
	Abs       string // real absolute path, or the lexical one where nothing is known
	Root      string // real path of the root that holds it, "" outside all roots
	InRoot    bool
	Forbidden bool
	Writable  bool
}

// Look resolves path for judging only. from is the directory a relative path
// starts in, "" for the first root. A path that cannot be resolved is outside.
func (s *Set) Look(path, from string) Place {
	if from != "" && !filepath.IsAbs(path) {
		path = from + string(filepath.Separator) + path
	}
	t, err := s.Resolve(path)
	if err == nil {
		defer t.Close()
		p := Place{Abs: t.Abs, InRoot: t.InRoot(), Writable: t.Root.Writable}
		if p.InRoot {
			p.Root = t.Root.Path
		}
		return p
	}
	if !filepath.IsAbs(path) && len(s.roots) > 0 {
		path = filepath.Join(s.roots[0].Path, path)
	}
	return Place{Abs: filepath.Clean(path), Forbidden: errors.Is(err, ErrForbidden) || s.deniedName(path)}
}

// deniedName reports whether a path that did not resolve is forbidden, as it is
// written or behind the links that exist.
func (s *Set) deniedName(path string) bool {
	path = filepath.Clean(path)
	if s.hidden(path, nil) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && s.hidden(real, nil)
}
