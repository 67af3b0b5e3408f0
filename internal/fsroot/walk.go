package fsroot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
)

// ErrStop ends a walk early without being an error of it.
var ErrStop = errors.New("stop the walk")

// WalkOptions bound a walk.
type WalkOptions struct {
	MaxEntries int      // entries looked at in all, 200 000 when zero
	MaxDepth   int      // directories below the start, 64 when zero
	Skip       []string // names of directories not entered; nil is ".git"
}

// Entry is something a walk met. It is valid during the call it is passed to.
type Entry struct {
	Path  string // below the start of the walk, with slashes
	Name  string
	Type  fs.FileMode // type bits; a link is a link here
	Depth int         // 0 directly in the start

	in  *dir
	abs string
	set *Set
}

// WalkResult tells what a walk left out.
type WalkResult struct {
	Entries   int  // entries looked at
	Truncated bool // a bound was met
	Unread    int  // directories that could not be read
}

// Walk calls fn for everything below the directory t, in the order of names,
// directories before what they hold. Links are reported, not followed; an
// Entry's Open follows one that stays in the roots. Forbidden places are left
// out. fn returns fs.SkipDir to stay out of a directory and ErrStop to end the
// walk; its other errors end it and are returned. A directory that cannot be
// read is counted, not an error.
func (s *Set) Walk(ctx context.Context, t *Target, opts WalkOptions, fn func(*Entry) error) (WalkResult, error) {
	if t.self == nil {
		_, _, err := t.ReadDir(1)
		return WalkResult{}, err
	}
	w := &treeWalk{ctx: ctx, set: s, opts: opts.withDefaults(), fn: fn}
	err := w.dir(t.self, "", t.Abs, 0)
	if errors.Is(err, ErrStop) {
		err = nil
	}
	return w.result, err
}

func (o WalkOptions) withDefaults() WalkOptions {
	if o.MaxEntries <= 0 {
		o.MaxEntries = 200_000
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = 64
	}
	if o.Skip == nil {
		o.Skip = []string{".git"}
	}
	return o
}

type treeWalk struct {
	ctx    context.Context
	set    *Set
	opts   WalkOptions
	fn     func(*Entry) error
	result WalkResult
}

func (w *treeWalk) dir(d *dir, rel, abs string, depth int) error {
	left := w.opts.MaxEntries - w.result.Entries
	list, more, err := d.list(abs, left)
	if err != nil {
		w.result.Unread++
		return nil
	}
	w.result.Truncated = w.result.Truncated || more
	for _, item := range list {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.result.Entries++; w.result.Entries > w.opts.MaxEntries {
			w.result.Truncated = true
			return ErrStop
		}
		e := &Entry{
			Path: path.Join(rel, item.Name), Name: item.Name, Type: item.Type, Depth: depth,
			in: d, abs: abs + string(os.PathSeparator) + item.Name, set: w.set,
		}
		if err := w.entry(e); err != nil {
			return err
		}
	}
	return nil
}

func (w *treeWalk) entry(e *Entry) error {
	if w.set.hidden(e.abs, nil) {
		return nil
	}
	if !e.Type.IsDir() {
		return w.fn(e)
	}
	d, err := e.in.open(e.Name)
	if err != nil {
		w.result.Unread++
		return nil
	}
	defer d.close()
	info, err := d.stat()
	if err != nil || w.set.hidden(e.abs, info) {
		return nil
	}
	switch err := w.fn(e); {
	case errors.Is(err, fs.SkipDir):
		return nil
	case err != nil:
		return err
	}
	for _, skip := range w.opts.Skip {
		if e.Name == skip {
			return nil
		}
	}
	if e.Depth+1 >= w.opts.MaxDepth {
		w.result.Truncated = true
		return nil
	}
	return w.dir(d, e.Path, e.abs, e.Depth+1)
}

// hidden reports whether a walk leaves a place out. The start of the walk was
// judged when it was resolved, so only places below a root that are forbidden
// themselves matter here.
func (s *Set) hidden(abs string, info fs.FileInfo) bool {
	cwd := s.roots[0]
	for i := range s.denied {
		d := &s.denied[i]
		if !d.covers(abs) && (d.info == nil || info == nil || !same(d.info, info)) {
			continue
		}
		if d.own || !d.covers(cwd.Path) && !d.above(cwd) || !cwd.holds(abs) {
			return true
		}
	}
	return false
}

func (r heldRoot) holds(abs string) bool { return (&denied{path: r.Path}).covers(abs) }

// Target resolves the entry, following a link. The caller closes it.
func (e *Entry) Target() (*Target, error) { return e.set.Resolve(e.abs) }

// Open opens a regular file, or the one a link within the roots leads to. It
// never waits.
func (e *Entry) Open() (*os.File, error) {
	if !e.Type.IsRegular() {
		return e.openLinked()
	}
	f, err := e.in.openFile(e.Name, os.O_RDONLY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: e.abs, Err: cause(err)}
	}
	info, err := fileInfo(f)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = pathError(e.abs, ErrNotRegular, "it is "+kindOf(info.Mode()))
	case e.set.hidden(e.abs, info):
		err = pathError(e.abs, ErrForbidden, "")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (e *Entry) openLinked() (*os.File, error) {
	t, err := e.Target()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	return t.Open()
}

// Info returns size, mode and time of the entry itself; a link's own.
func (e *Entry) Info() (fs.FileInfo, error) {
	info, err := e.in.lstat(e.Name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: e.abs, Err: cause(err)}
	}
	return info, nil
}
