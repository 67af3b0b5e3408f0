package fsroot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxLinks is how many links one path may lead through, as in Linux.
	maxLinks = 40
	// maxDepth bounds the directories held open while a path is walked.
	maxDepth = 200
)

// origin says where a path component came from.
type origin int

const (
	asked    origin = iota // the caller wrote it
	linked                 // a link's target holds it
	anchored               // it is part of a root's own real path
)

type part struct {
	name string
	from origin
}

// step is one directory the walk has entered.
type step struct {
	dir      *dir
	borrowed bool // the Set's own handle, not to be closed
	name     string
	abs      string
	info     fs.FileInfo
	wasLink  bool // walker.afterLink before this step
}

// walker follows one path. Its stack is the chain of real directories from the
// anchor to where it stands; what is left of the path is in todo.
type walker struct {
	set       *Set
	asked     string
	stack     []step
	todo      []part
	links     int
	afterLink bool // the last thing entered was a link the caller named
}

// Resolve finds what path names: absolute, or relative to the first root. The
// last components need not exist, unless a link leads to them. The caller
// closes the Target.
func (s *Set) Resolve(path string) (*Target, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, &fs.PathError{Op: "resolve", Path: path, Err: fs.ErrClosed}
	}
	w := &walker{set: s, asked: path}
	defer w.release()
	if err := w.start(); err != nil {
		return nil, err
	}
	return w.walk()
}

func (w *walker) start() error {
	path := w.asked
	if path == "" {
		return w.refuse(ErrInvalid, "it is empty")
	}
	if strings.ContainsRune(path, 0) {
		return w.refuse(ErrInvalid, "it holds a NUL byte")
	}
	if !filepath.IsAbs(path) {
		if filepath.VolumeName(path) != "" || os.IsPathSeparator(path[0]) {
			return w.refuse(ErrInvalid, "it is neither absolute nor relative to the working directory")
		}
		w.todo = parts(path, asked)
		return w.enterRoot(0)
	}
	return w.startAbsolute(path)
}

// startAbsolute begins at the deepest root the path spells out, so that what
// lies above a root need not be readable, and at the top of the file system
// otherwise.
func (w *walker) startAbsolute(path string) error {
	volume := filepath.VolumeName(path)
	names := parts(path[len(volume):], asked)
	best, skip := -1, 0
	for i, r := range w.set.roots {
		if !strings.EqualFold(filepath.VolumeName(r.Path), volume) {
			continue
		}
		if n := len(r.names); n <= len(names) && slices.Equal(r.names, names[:n]) && (best < 0 || n > skip) {
			best, skip = i, n
		}
	}
	if best >= 0 {
		w.todo = names[skip:]
		return w.enterRoot(best)
	}
	w.todo = names
	return w.enterTop(volume)
}

func (w *walker) enterRoot(i int) error {
	r := w.set.roots[i]
	if err := r.alive(); err != nil {
		return err
	}
	w.release()
	w.stack = append(w.stack, step{dir: r.dir, borrowed: true, name: filepath.Base(r.Path), abs: r.Path, info: r.info})
	return nil
}

func (w *walker) enterTop(volume string) error {
	top := volume + string(filepath.Separator)
	d, err := openAnchor(top)
	if err != nil {
		return w.outside()
	}
	info, err := d.stat()
	if err != nil {
		d.close()
		return w.outside()
	}
	w.release()
	w.stack = append(w.stack, step{dir: d, name: top, abs: top, info: info})
	return nil
}

func (w *walker) walk() (*Target, error) {
	for len(w.todo) > 0 {
		p := w.todo[0]
		w.todo = w.todo[1:]
		var found *Target
		var err error
		if p.name == ".." {
			err = w.up(p)
		} else {
			found, err = w.down(p)
		}
		if found != nil || err != nil {
			return found, err
		}
	}
	return w.here()
}

// up goes to the parent directory. Behind a link the caller named, ".." could
// mean the parent of the link or of what it points to; it is refused.
func (w *walker) up(p part) error {
	if p.from == asked && w.afterLink {
		return w.refuse(ErrInvalid, `".." after a link is ambiguous; name the path without it`)
	}
	top := w.stack[len(w.stack)-1]
	if len(w.stack) > 1 {
		w.pop()
		w.afterLink = top.wasLink
		return nil
	}
	parent := filepath.Dir(top.abs)
	if parent == top.abs {
		return nil
	}
	volume := filepath.VolumeName(parent)
	w.todo = append(parts(parent[len(volume):], anchored), w.todo...)
	return w.enterTop(volume)
}

// down takes one component: a directory to enter, a link to follow, or the
// file the path ends in.
func (w *walker) down(p part) (*Target, error) {
	at := w.stack[len(w.stack)-1]
	info, err := at.dir.lstat(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.absent(p)
	case err != nil:
		return nil, w.failed(err)
	case info.Mode().Type() == fs.ModeSymlink:
		return nil, w.follow(p)
	case info.IsDir():
		return nil, w.enter(p, info)
	case len(w.todo) > 0:
		return nil, w.failed(&fs.PathError{Op: "resolve", Path: w.asked, Err: errNotDir})
	}
	return w.target(p.name, nil, info)
}

func (w *walker) enter(p part, info fs.FileInfo) error {
	if len(w.stack) >= maxDepth {
		return w.refuse(ErrInvalid, "it is too deep")
	}
	at := w.stack[len(w.stack)-1]
	d, err := at.dir.open(p.name)
	if err != nil {
		return w.failed(err)
	}
	now, err := d.stat()
	if err != nil {
		d.close()
		return w.failed(err)
	}
	if !same(now, info) {
		d.close()
		return w.refuse(ErrChanged, "")
	}
	w.stack = append(w.stack, step{
		dir: d, name: p.name, abs: filepath.Join(at.abs, p.name), info: now, wasLink: w.afterLink,
	})
	if p.from != linked {
		w.afterLink = false
	}
	return nil
}

func (w *walker) follow(p part) error {
	if w.links++; w.links > maxLinks {
		return w.refuse(ErrInvalid, "it leads through too many links")
	}
	target, err := w.stack[len(w.stack)-1].dir.readlink(p.name)
	if err != nil {
		return w.failed(err)
	}
	if target == "" {
		return w.refuse(ErrDangling, "")
	}
	w.afterLink = true
	volume := filepath.VolumeName(target)
	w.todo = append(parts(target[len(volume):], linked), w.todo...)
	if filepath.IsAbs(target) {
		return w.enterTop(volume)
	}
	return nil
}

// absent ends the walk at a component that does not exist. A caller may create
// what it named itself, never what a link points to.
func (w *walker) absent(p part) (*Target, error) {
	if !w.set.anywhere && w.rootOf(len(w.stack)-1) < 0 {
		return nil, w.outside()
	}
	if p.from != asked {
		return nil, w.refuse(ErrDangling, "")
	}
	names := []string{p.name}
	for _, q := range w.todo {
		if q.name == ".." {
			return nil, w.refuse(ErrInvalid, `".." after a directory that does not exist`)
		}
		names = append(names, q.name)
	}
	return w.target(names[0], names[1:], nil)
}

// here ends the walk at the directory the walker stands in.
func (w *walker) here() (*Target, error) {
	last := len(w.stack) - 1
	at := w.stack[last]
	t, err := w.judge(at.abs, last, at.info)
	if err != nil {
		return nil, err
	}
	t.self, err = w.take(last)
	if err != nil {
		return nil, w.failed(err)
	}
	if last > 0 {
		t.name = at.name
		t.parent, err = w.take(last - 1)
		if err != nil {
			t.Close()
			return nil, w.failed(err)
		}
	}
	return t, nil
}

// target ends the walk at name in the current directory; below are the further
// components when name does not exist.
func (w *walker) target(name string, below []string, info fs.FileInfo) (*Target, error) {
	last := len(w.stack) - 1
	abs := filepath.Join(append([]string{w.stack[last].abs, name}, below...)...)
	t, err := w.judge(abs, last, info)
	if err != nil {
		return nil, err
	}
	t.name, t.below = name, below
	if t.parent, err = w.take(last); err != nil {
		return nil, w.failed(err)
	}
	return t, nil
}

// take hands the directory of a step to a Target.
func (w *walker) take(i int) (*dir, error) {
	if w.stack[i].borrowed {
		return w.stack[i].dir.dup()
	}
	w.stack[i].borrowed = true
	return w.stack[i].dir, nil
}

func (w *walker) pop() {
	last := len(w.stack) - 1
	if !w.stack[last].borrowed {
		w.stack[last].dir.close()
	}
	w.stack = w.stack[:last]
}

func (w *walker) release() {
	for len(w.stack) > 0 {
		w.pop()
	}
}

func (w *walker) refuse(reason error, detail string) error {
	return pathError(w.asked, reason, detail)
}

func (w *walker) outside() error { return w.refuse(ErrOutside, w.set.allowed()) }

// failed reports a system error. Outside the roots it tells nothing about what
// is there.
func (w *walker) failed(err error) error {
	if !w.set.anywhere && w.rootOf(len(w.stack)-1) < 0 {
		return w.outside()
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fs.PathError{Op: "resolve", Path: w.asked, Err: err}
}

func (s *Set) allowed() string {
	list := make([]string, len(s.roots))
	for i, r := range s.roots {
		list[i] = r.Path
	}
	return "allowed are " + strings.Join(list, ", ")
}

// parts splits a path at its separators, dropping empty and "." components.
func parts(path string, from origin) []part {
	var list []part
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if name != "." {
			list = append(list, part{name, from})
		}
	}
	return list
}
