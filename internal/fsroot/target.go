package fsroot

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Target is a resolved path. Its fields say what was judged; its methods act on
// exactly that, through handles taken when it was resolved. A Target is for one
// goroutine.
type Target struct {
	Root   Root        // the root that holds it
	Rel    string      // below the root; "." is the root itself
	Abs    string      // real absolute path
	Exists bool        // something was there when it was resolved
	Info   fs.FileInfo // what was there, nil otherwise; never a link

	set    *Set
	asked  string   // the path as the caller wrote it
	parent *dir     // directory that holds name; nil for an anchor
	name   string   // last existing component, or the first missing one
	below  []string // components below name that do not exist either
	self   *dir     // the directory itself, when the target is one
}

// InRoot reports whether one of the session's roots holds the target.
func (t *Target) InRoot() bool { return t.Root.Name != NameOutside }

// IsDir reports whether the target was an existing directory.
func (t *Target) IsDir() bool { return t.self != nil }

// Close releases the handles. The Target is of no use afterwards.
func (t *Target) Close() error {
	for _, d := range []*dir{t.parent, t.self} {
		if d != nil {
			d.close()
		}
	}
	t.parent, t.self = nil, nil
	return nil
}

// Open opens the file for reading. It never waits for a FIFO or a device:
// anything but the regular file that was judged is ErrNotRegular or ErrChanged.
func (t *Target) Open() (*os.File, error) {
	if err := t.wantFile(); err != nil {
		return nil, err
	}
	f, err := t.parent.openFile(t.name, os.O_RDONLY, 0)
	if err != nil {
		return nil, t.failed("open", err)
	}
	info, err := fileInfo(f)
	if err == nil {
		err = t.checkSame(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (t *Target) wantFile() error {
	switch {
	case !t.Exists:
		return t.failed("open", fs.ErrNotExist)
	case t.self != nil:
		return pathError(t.asked, ErrNotRegular, "it is a directory")
	case !t.Info.Mode().IsRegular():
		return pathError(t.asked, ErrNotRegular, "it is "+kindOf(t.Info.Mode()))
	}
	return nil
}

func (t *Target) checkSame(now fs.FileInfo) error {
	if !now.Mode().IsRegular() {
		return pathError(t.asked, ErrNotRegular, "it is "+kindOf(now.Mode()))
	}
	if !same(now, t.Info) {
		return pathError(t.asked, ErrChanged, "")
	}
	return nil
}

// ReadFile reads the whole file. One of more than max bytes is ErrTooLarge;
// max ≤ 0 sets no limit.
func (t *Target) ReadFile(max int64) ([]byte, error) {
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if max > 0 {
		r = io.LimitReader(f, max+1)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, t.failed("read", err)
	}
	if max > 0 && int64(len(data)) > max {
		return nil, pathError(t.asked, ErrTooLarge, fmt.Sprintf("%d bytes", max))
	}
	return data, nil
}

// Stat looks again at what is there now, without following a link. A Target
// that did not exist fails with fs.ErrNotExist until something is created.
func (t *Target) Stat() (fs.FileInfo, error) {
	if t.self != nil {
		return t.self.stat()
	}
	if len(t.below) > 0 {
		return nil, t.failed("stat", fs.ErrNotExist)
	}
	info, err := t.parent.lstat(t.name)
	if err != nil {
		return nil, t.failed("stat", err)
	}
	return info, nil
}

// DirEntry is a name in a directory.
type DirEntry struct {
	Name string
	Type fs.FileMode // type bits only
}

// ReadDir lists at most max names of the directory, sorted, and reports whether
// there were more. Forbidden names are listed; they cannot be opened.
func (t *Target) ReadDir(max int) (entries []DirEntry, more bool, err error) {
	if t.self == nil {
		if !t.Exists {
			return nil, false, t.failed("list", fs.ErrNotExist)
		}
		return nil, false, t.failed("list", errNotDir)
	}
	entries, more, err = t.self.list(t.Abs, max)
	if err != nil {
		return nil, false, t.failed("list", err)
	}
	return entries, more, nil
}

func (t *Target) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: t.asked, Err: cause(err)}
}

// cause drops the inner operation and path of a system error: they name a
// component of a walk, not what the caller asked for.
func cause(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
