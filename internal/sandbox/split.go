package sandbox

import (
	"os"
	"path/filepath"
)

// grants returns the places to grant on a rung that only adds. Where something
// in a place is to be told apart, the place is granted child by child, and is
// itself neither listed nor written. Links are left out, for they lead
// elsewhere.
func (v view) grants() []place {
	var list []place
	for _, p := range v.places {
		if p.access != hidden {
			list = append(list, v.split(p)...)
		}
	}
	return list
}

func (v view) split(p place) []place {
	if !p.dir || !v.apart(p) {
		return []place{p}
	}
	entries, err := os.ReadDir(p.path)
	if err != nil {
		return nil
	}
	var list []place
	for _, e := range entries {
		child := place{path: filepath.Join(p.path, e.Name()), access: p.access, dir: e.IsDir()}
		if _, own := v.at(child.path); own || e.Type()&os.ModeSymlink != 0 || kernelPlace(child.path) {
			continue
		}
		list = append(list, v.split(child)...)
	}
	return list
}

// apart reports whether something in a place has less access than the place.
func (v view) apart(p place) bool {
	for _, q := range v.places {
		if q.path != p.path && within(q.path, p.path) && q.access < p.access {
			return true
		}
	}
	return false
}

// kernelPlace reports whether a path is one of the kernel's own file systems,
// which are granted by themselves.
func kernelPlace(path string) bool { return path == "/proc" || path == "/dev" }
