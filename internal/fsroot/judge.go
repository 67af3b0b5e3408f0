package fsroot

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// rootOf returns the root that holds step last of the stack, the deepest one
// when roots are nested, or -1.
func (w *walker) rootOf(last int) int {
	for i := last; i >= 0; i-- {
		for j, r := range w.set.roots {
			if same(w.stack[i].info, r.info) {
				return j
			}
		}
	}
	return -1
}

// judge decides whether abs, which lies in the directory of step last or is
// that directory, may be used, and begins its Target.
func (w *walker) judge(abs string, last int, info fs.FileInfo) (*Target, error) {
	root := w.rootOf(last)
	if root < 0 && !w.set.anywhere {
		return nil, w.outside()
	}
	if place := w.deniedBy(abs, last, info); place != nil {
		return nil, w.refuse(ErrForbidden, place.reason())
	}
	t := &Target{set: w.set, asked: w.asked, Abs: abs, Info: info, Exists: info != nil}
	if root < 0 {
		top := filepath.VolumeName(abs) + string(filepath.Separator)
		t.Root = Root{Path: top, Writable: true, Name: NameOutside}
		t.Rel = strings.TrimPrefix(abs, top)
	} else {
		t.Root = w.set.roots[root].Root
		t.Rel = w.relative(abs, root, last)
	}
	if t.Rel == "" {
		t.Rel = "."
	}
	return t, nil
}

// relative returns abs below the given root. The root may have been reached by
// another spelling than its real path, so the stack decides.
func (w *walker) relative(abs string, root, last int) string {
	for i := last; i >= 0; i-- {
		if same(w.stack[i].info, w.set.roots[root].info) {
			rel := strings.TrimPrefix(abs, w.stack[i].abs)
			return strings.TrimLeft(rel, string(filepath.Separator))
		}
	}
	return abs
}

// deniedBy returns the forbidden place that holds abs, or nil.
func (w *walker) deniedBy(abs string, last int, info fs.FileInfo) *denied {
	for i := range w.set.denied {
		d := &w.set.denied[i]
		if d.covers(abs) && !w.exempt(d, last) {
			return d
		}
		if d.info == nil {
			continue
		}
		if info != nil && same(d.info, info) && !w.exempt(d, last) {
			return d
		}
		for j := last; j >= 0; j-- {
			if same(d.info, w.stack[j].info) && !w.exempt(d, last) {
				return d
			}
		}
	}
	return nil
}

// exempt reports whether the working directory lies at or below the forbidden
// place and the walk ends inside the working directory.
func (w *walker) exempt(d *denied, last int) bool {
	cwd := w.set.roots[0]
	if d.own || !d.covers(cwd.Path) && !d.above(cwd) {
		return false
	}
	for i := last; i >= 0; i-- {
		if same(w.stack[i].info, cwd.info) {
			return true
		}
	}
	return false
}

func (d *denied) covers(abs string) bool {
	rest, ok := strings.CutPrefix(abs, d.path)
	return ok && (rest == "" || os.IsPathSeparator(rest[0]) || os.IsPathSeparator(d.path[len(d.path)-1]))
}

// above reports whether the place is the root's own directory under another
// spelling.
func (d *denied) above(r heldRoot) bool { return d.info != nil && same(d.info, r.info) }

func (d *denied) reason() string {
	if d.own {
		return d.path + " belongs to Grapnel itself"
	}
	return d.path + " is in forbidden_paths"
}
