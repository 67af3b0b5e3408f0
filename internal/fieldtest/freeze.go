package fieldtest

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Freeze takes the right to write from a directory and all in it until undo. It
// fails where this user cannot be kept from writing.
func Freeze(dir string) (undo func(), err error) {
	if os.Getuid() == 0 { // modes do not bind root
		return mount(dir, "", true)
	}
	if err := changeModes(dir, func(m fs.FileMode) fs.FileMode { return m &^ 0o222 }); err != nil {
		return nil, err
	}
	return func() { _ = changeModes(dir, func(m fs.FileMode) fs.FileMode { return m | 0o200 }) }, nil
}

func changeModes(dir string, change func(fs.FileMode) fs.FileMode) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || !d.IsDir() && !info.Mode().IsRegular() {
			return err
		}
		return os.Chmod(path, change(info.Mode().Perm()))
	})
}

// CanFreeze reports whether Freeze works for this user on this system.
func CanFreeze() bool {
	dir, err := os.MkdirTemp("", "grapnel-freeze-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	undo, err := Freeze(dir)
	if err != nil {
		return false
	}
	undo()
	return true
}

// SmallDisk lays a disk of its own over a directory; size is as in tmpfs(5). It
// returns a way to change the size.
func SmallDisk(dir, size string) (resize func(size string) error, undo func(), err error) {
	undo, err = mount(dir, "size="+size, false)
	if err != nil {
		return nil, nil, err
	}
	return func(size string) error { return remount(dir, "size="+size) }, undo, nil
}
