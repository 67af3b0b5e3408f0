package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// Away is the file system of a client whose hands do everything (session.Hands
// with Only). It is not at hand to look at: paths are judged by their names, and
// what is a link there is known to the client alone.
type Away struct {
	Roots     []string // absolute and clean; the first is Env.Cwd
	Forbidden []string // refused although a root holds them
	Anywhere  bool     // paths outside all roots are resolved, for policy to judge
}

// AwayTools are the names of the tools that work by a client's hands alone, or by
// none.
func AwayTools() []string {
	return []string{
		fileRead{}.Spec().Name, fileWrite{}.Spec().Name, fileEdit{}.Spec().Name, shell{}.Spec().Name,
		todo{}.Spec().Name, askUser{}.Spec().Name, escalate{}.Spec().Name,
	}
}

// Resolve finds out by its name where a path lies; relative ones start in from.
// The target exists by name only: it can be neither read nor written here.
func (a *Away) Resolve(path, from string) (*fsroot.Target, error) {
	if strings.ContainsRune(path, 0) {
		return nil, &fsroot.PathError{Path: path, Reason: fsroot.ErrInvalid, Detail: "it holds a NUL byte"}
	}
	p := a.Look(path, from)
	root := fsroot.Root{Path: p.Root, Name: fsroot.NameExtra, Writable: true}
	switch {
	case p.Forbidden:
		return nil, &fsroot.PathError{Path: path, Reason: fsroot.ErrForbidden}
	case !p.InRoot && !a.Anywhere:
		return nil, &fsroot.PathError{Path: path, Reason: fsroot.ErrOutside, Detail: "use a path below " + strings.Join(a.Roots, " or ")}
	case !p.InRoot:
		root.Name = fsroot.NameOutside
	case p.Root == a.Roots[0]:
		root.Name = fsroot.NameCwd
	}
	return &fsroot.Target{Root: root, Abs: p.Abs}, nil
}

// Look describes a path to policy, by its name.
func (a *Away) Look(path, from string) policy.Path {
	if !filepath.IsAbs(path) {
		path = filepath.Join(from, path)
	}
	p := policy.Path{Abs: filepath.Clean(path)}
	for _, root := range a.Roots {
		if below(p.Abs, root) {
			p.Root, p.InRoot = root, true
			break
		}
	}
	for _, dir := range a.Forbidden {
		p.Forbidden = p.Forbidden || below(p.Abs, dir)
	}
	return p
}

// below reports whether a clean path is dir or lies in it.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// errHandsGone is for the model: there is no other way to do it.
var errHandsGone = errors.New("the client whose files and terminals are used has left; nothing is done in its place")

// orGone explains a failure of hands that nothing stands in for.
func orGone(err error) error {
	if notServed(err) {
		return fmt.Errorf("%w (%v)", errHandsGone, err)
	}
	return err
}
