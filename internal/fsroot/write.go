package fsroot

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
)

// WriteOptions say how WriteFile treats what is already there.
type WriteOptions struct {
	// Perm is the mode of a new file before the umask, 0666 when zero. An
	// existing file keeps its mode.
	Perm fs.FileMode
	// MakeParents creates missing directories below the root.
	MakeParents bool
	// IfUnchanged fails with ErrChanged unless the file is still the one that
	// was judged, of the same size and modification time; a target that did
	// not exist must still not exist.
	IfUnchanged bool
}

// WriteFile replaces the file's content: data goes into a temporary file in the
// held parent directory, which then takes the name. Other hard links of an old
// file keep its old content, and a link that took the name meanwhile is
// replaced, not followed. A file without owner write permission is refused.
func (t *Target) WriteFile(data []byte, opts WriteOptions) error {
	if err := t.wantWritable(); err != nil {
		return err
	}
	d, name, err := t.makeParents(opts.MakeParents)
	if err != nil {
		return err
	}
	defer func() {
		if d != t.parent {
			d.close()
		}
	}()
	now, err := t.current(d, name, opts.IfUnchanged)
	if err != nil {
		return err
	}
	tmp, err := t.writeTemp(d, data, opts.Perm, now)
	if err != nil {
		return err
	}
	if err := d.rename(tmp, name); err != nil {
		_ = d.remove(tmp)
		return t.failed("write", err)
	}
	return nil
}

func (t *Target) wantWritable() error {
	switch {
	case !t.Root.Writable:
		return pathError(t.asked, ErrReadOnly, t.Root.Path)
	case t.self != nil:
		return pathError(t.asked, ErrNotRegular, "it is a directory")
	case t.Exists && !t.Info.Mode().IsRegular():
		return pathError(t.asked, ErrNotRegular, "it is "+kindOf(t.Info.Mode()))
	}
	return nil
}

// current looks at what has the name now; nil is nothing.
func (t *Target) current(d *dir, name string, unchanged bool) (fs.FileInfo, error) {
	now, err := d.lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, t.failed("write", err)
	}
	if err != nil {
		now = nil
	}
	if unchanged && !t.unchanged(now) {
		return nil, pathError(t.asked, ErrChanged, "")
	}
	if now == nil || now.Mode().Type() == fs.ModeSymlink {
		return nil, nil
	}
	if !now.Mode().IsRegular() {
		return nil, pathError(t.asked, ErrNotRegular, "it is "+kindOf(now.Mode()))
	}
	if now.Mode()&0o200 == 0 {
		return nil, t.failed("write", fs.ErrPermission)
	}
	return now, nil
}

func (t *Target) unchanged(now fs.FileInfo) bool {
	if now == nil || !t.Exists {
		return now == nil && !t.Exists
	}
	return same(now, t.Info) && now.Size() == t.Info.Size() && now.ModTime().Equal(t.Info.ModTime())
}

// writeTemp writes data into a new file of d and returns its name. With old it
// takes over its mode and, as far as the system lets us, its owner.
func (t *Target) writeTemp(d *dir, data []byte, perm fs.FileMode, old fs.FileInfo) (string, error) {
	if perm == 0 {
		perm = 0o666
	}
	if old != nil {
		perm = 0o600
	}
	name := ".grapnel-" + rand.Text()
	f, err := d.openFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", t.failed("write", err)
	}
	_, err = f.Write(data)
	if err == nil && old != nil {
		keepOwner(f, old)
		err = f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = d.remove(name)
		return "", t.failed("write", err)
	}
	return name, nil
}

// makeParents returns the directory the file goes into and its name there,
// creating what is missing when asked to. The caller closes a directory that is
// not t.parent.
func (t *Target) makeParents(create bool) (*dir, string, error) {
	d, name := t.parent, t.name
	for _, next := range t.below {
		if !create {
			return nil, "", t.failed("write", fs.ErrNotExist)
		}
		sub, err := makeDir(d, name)
		if d != t.parent {
			d.close()
		}
		if err != nil {
			return nil, "", t.failed("write", err)
		}
		d, name = sub, next
	}
	return d, name, nil
}

func makeDir(d *dir, name string) (*dir, error) {
	if err := d.mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.open(name)
}

// Mkdir creates the directory the target names, and the missing ones above it.
func (t *Target) Mkdir() error {
	if !t.Root.Writable {
		return pathError(t.asked, ErrReadOnly, t.Root.Path)
	}
	if t.Exists {
		return t.failed("mkdir", fs.ErrExist)
	}
	d, name, err := t.makeParents(true)
	if err != nil {
		return err
	}
	err = d.mkdir(name, 0o777)
	if d != t.parent {
		d.close()
	}
	if err != nil {
		return t.failed("mkdir", err)
	}
	return nil
}

// Remove removes the file. A directory is refused.
func (t *Target) Remove() error {
	if err := t.wantWritable(); err != nil {
		return err
	}
	if !t.Exists {
		return t.failed("remove", fs.ErrNotExist)
	}
	if err := t.parent.remove(t.name); err != nil {
		return t.failed("remove", err)
	}
	return nil
}
