//go:build !unix

package fsroot

import (
	"errors"
	"io/fs"
	"os"
)

var errNotDir = errors.New("not a directory")

// dir is an open directory. Names passed to its methods are single components;
// os.Root keeps a link that takes such a name from leading out of the directory.
type dir struct{ root *os.Root }

// openAnchor opens the directory a real path names.
func openAnchor(path string) (*dir, error) {
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &dir{r}, nil
}

func (d *dir) open(name string) (*dir, error) {
	r, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &dir{r}, nil
}

func (d *dir) dup() (*dir, error) { return d.open(".") }

func (d *dir) close() {
	_ = d.root.Close()
}

func (d *dir) stat() (fs.FileInfo, error) { return d.root.Stat(".") }

func (d *dir) lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d *dir) readlink(name string) (string, error) { return d.root.Readlink(name) }

func (d *dir) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return d.root.OpenFile(name, flag, perm)
}

func (d *dir) mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm) }

func (d *dir) rename(from, to string) error { return d.root.Rename(from, to) }

func (d *dir) remove(name string) error { return d.root.Remove(name) }

func (d *dir) names(string) (*os.File, error) { return d.root.Open(".") }

// statPath looks at a path without following a link in its last component.
func statPath(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func fileInfo(f *os.File) (fs.FileInfo, error) { return f.Stat() }

// keepOwner does nothing: a new file inherits its access list from the
// directory here.
func keepOwner(*os.File, fs.FileInfo) {}

func same(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }
