// Package fsroot turns a path a model or a client named into a Target: the
// root it lies in, its place below that root, and open handles on it.
//
// A path is resolved once, component by component, by descriptor. Links are
// followed by this package and not by the system, so that a link from one
// allowed root into another works and a link out of all of them does not. The
// policy judges the Target and the tool acts on the handles the Target holds;
// renaming directories or swapping them for links in between changes nothing
// outside the roots.
//
// On Linux directories are held as O_PATH descriptors, on other Unix systems as
// ordinary directory descriptors, elsewhere as os.Root handles: there a path is
// walked the same way, and reparse points that are not symbolic links are
// refused.
package fsroot

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
)

// Names of roots that have a meaning of their own.
const (
	NameCwd       = "cwd"       // the session's working directory
	NameWorkspace = "workspace" // the agent's own place
	NameExtra     = "extra"     // allowed by configuration or by the client
	NameOutside   = "outside"   // the whole file system, see Options.Anywhere
)

// Root is a directory tree a session may use.
type Root struct {
	Path     string // real absolute path once a Set is open
	Writable bool
	Name     string // one of the Name constants
}

// Options say what no root gives access to.
type Options struct {
	// Forbidden paths are refused although a root holds them. The first root
	// is the one exception: lying at or below a forbidden path, it is usable,
	// and nothing else of that path is.
	Forbidden []string
	// Own are files and directories of Grapnel itself. They are refused
	// without exception.
	Own []string
	// Anywhere resolves paths outside all roots to targets whose Root is named
	// NameOutside, instead of failing with ErrOutside. Forbidden and Own hold.
	Anywhere bool
}

// Set is the roots of one session, held by descriptor. It is safe for
// concurrent use. Targets outlive it.
type Set struct {
	mu       sync.RWMutex
	closed   bool
	roots    []heldRoot
	missing  []string
	denied   []denied
	anywhere bool
}

type heldRoot struct {
	Root
	names []part // the components of its path, without the volume
	dir   *dir
	info  fs.FileInfo
}

// denied is one forbidden place: by name, and by identity while it exists, so
// that neither another spelling nor a hard link leads to it.
type denied struct {
	path string
	info fs.FileInfo // nil while nothing is there
	own  bool
}

// Open opens the roots. The first is the session's working directory, which
// relative paths start from; it has to exist. A later root that does not exist
// is left out and listed by Missing. Root paths must be absolute.
func Open(roots []Root, opts Options) (*Set, error) {
	if len(roots) == 0 {
		return nil, fmt.Errorf("open roots: no directory is allowed; name at least the working directory")
	}
	s := &Set{anywhere: opts.Anywhere}
	for i, r := range roots {
		held, err := holdRoot(r)
		switch {
		case err == nil:
			s.roots = append(s.roots, held)
		case i == 0:
			return nil, err
		default:
			s.missing = append(s.missing, r.Path)
		}
	}
	s.denied = append(deny(opts.Own, true), deny(opts.Forbidden, false)...)
	return s, nil
}

func holdRoot(r Root) (heldRoot, error) {
	if !filepath.IsAbs(r.Path) {
		return heldRoot{}, pathError(r.Path, ErrInvalid, "a root has to be an absolute path")
	}
	real, err := filepath.EvalSymlinks(r.Path)
	if err != nil {
		return heldRoot{}, fmt.Errorf("open root %s: %w", r.Path, err)
	}
	d, err := openAnchor(real)
	if err != nil {
		return heldRoot{}, fmt.Errorf("open root %s: %w", r.Path, err)
	}
	info, err := d.stat()
	if err != nil {
		d.close()
		return heldRoot{}, fmt.Errorf("open root %s: %w", r.Path, err)
	}
	r.Path = real
	return heldRoot{Root: r, names: parts(real[len(filepath.VolumeName(real)):], asked), dir: d, info: info}, nil
}

func deny(paths []string, own bool) []denied {
	var list []denied
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			continue
		}
		p = filepath.Clean(p)
		list = append(list, denied{path: p, own: own})
		real := realPath(p)
		info, err := statPath(real)
		if err != nil {
			info = nil
		}
		list = append(list, denied{path: real, info: info, own: own})
	}
	return list
}

// realPath follows the links of what exists of a path and keeps the rest.
func realPath(p string) string {
	real, err := filepath.EvalSymlinks(p)
	if err == nil {
		return real
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p
	}
	return filepath.Join(realPath(parent), filepath.Base(p))
}

// Roots returns the open roots with their real paths.
func (s *Set) Roots() []Root {
	list := make([]Root, len(s.roots))
	for i, r := range s.roots {
		list[i] = r.Root
	}
	return list
}

// Missing returns the roots that did not exist when the set was opened.
func (s *Set) Missing() []string { return slices.Clone(s.missing) }

// Close releases the roots. Resolve fails with fs.ErrClosed afterwards.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	for _, r := range s.roots {
		r.dir.close()
	}
	return nil
}

// alive reports whether the directory a root was opened on is still the one
// its path names.
func (r heldRoot) alive() error {
	if now, err := statPath(r.Path); err == nil && same(now, r.info) {
		return nil
	}
	return pathError(r.Path, ErrGone, "")
}
