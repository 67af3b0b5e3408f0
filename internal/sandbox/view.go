package sandbox

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// access is what may be done with a place and all below it.
type access int

const (
	hidden access = iota
	readOnly
	readWrite
)

// place is a file or directory with what may be done there. Of nested places
// the deepest holds.
type place struct {
	path   string // real and absolute
	access access
	dir    bool
	source string // what is there instead, "" for the place itself
	// guard marks a place that only a rung with mounts can set apart.
	guard bool
}

// view is everything a command sees.
type view struct {
	places []place           // parents before what they hold
	links  map[string]string // links on the way to the places, with where they lead
}

// scene collects the places of a view.
type scene struct {
	places map[string]place
	links  map[string]string
	made   time.Time
}

func newScene() *scene {
	return &scene{places: make(map[string]place), links: make(map[string]string), made: time.Now()}
}

// take adds all that another scene has.
func (s *scene) take(other *scene) {
	maps.Copy(s.places, other.places)
	maps.Copy(s.links, other.links)
}

// add grants path if it exists. Of two grants of one place the later holds.
func (s *scene) add(path string, a access) {
	real, ok := s.follow(path)
	if !ok {
		return
	}
	if info, err := os.Lstat(real); err == nil {
		s.places[real] = place{path: real, access: a, dir: info.IsDir()}
	}
}

// maxLinks is how many links a path may lead through, as in the kernel.
const maxLinks = 40

// follow returns the real path of path, and remembers the links on the way: a
// command names the place as we do.
func (s *scene) follow(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		return "", false
	}
	rest, links := components(path), 0
	cur := "/"
	for len(rest) > 0 {
		next := filepath.Join(cur, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return "", false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			cur = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		s.links[next] = target
		if !filepath.IsAbs(target) {
			target = filepath.Join(cur, target)
		}
		rest = append(components(target), rest...)
		cur = "/"
	}
	return cur, true
}

func components(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == '/' })
}

// view orders what was collected.
func (s *scene) view() view {
	v := view{links: s.links}
	for _, p := range s.places {
		v.places = append(v.places, p)
	}
	slices.SortFunc(v.places, func(a, b place) int { return cmp.Compare(a.path, b.path) })
	return v
}

// above returns the place that decides about path if no place has that very
// path.
func (v view) above(path string) (place, bool) {
	var found place
	ok := false
	for _, p := range v.places {
		if p.path != path && within(path, p.path) && (!ok || len(p.path) > len(found.path)) {
			found, ok = p, true
		}
	}
	return found, ok
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	if dir == "/" || path == dir {
		return true
	}
	return strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// withinAny reports whether path is one of the directories or lies below one.
func withinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) })
}
