//go:build unix

package fsroot

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const errNotDir = unix.ENOTDIR

// dir is an open directory. Names passed to its methods are single components
// and links are never followed.
type dir struct{ fd int }

// openAnchor opens the directory a real path names; no link may be last.
func openAnchor(path string) (*dir, error) { return openDirAt(unix.AT_FDCWD, path) }

func (d *dir) open(name string) (*dir, error) { return openDirAt(d.fd, name) }

func (d *dir) dup() (*dir, error) { return openDirAt(d.fd, ".") }

func openDirAt(fd int, name string) (*dir, error) {
	sub, err := openat(fd, name, dirFlags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &dir{sub}, nil
}

func (d *dir) close() {
	_ = unix.Close(d.fd)
}

func (d *dir) stat() (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(d.fd, &st) }); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: ".", Err: err}
	}
	return newInfo(".", &st), nil
}

func (d *dir) lstat(name string) (fs.FileInfo, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return newInfo(name, &st), nil
}

func (d *dir) readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd, name, buf)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(buf[:n]), nil
}

// openFile opens without waiting: a FIFO or a device does not hang.
func (d *dir) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := openat(d.fd, name, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, uint32(perm.Perm()))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *dir) mkdir(name string, perm fs.FileMode) error {
	if err := unix.Mkdirat(d.fd, name, uint32(perm.Perm())); err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

func (d *dir) rename(from, to string) error {
	return unix.Renameat(d.fd, from, d.fd, to)
}

func (d *dir) remove(name string) error { return unix.Unlinkat(d.fd, name, 0) }

// names opens the directory for listing; path is only what the entries' own
// errors call it.
func (d *dir) names(path string) (*os.File, error) {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openat(fd int, name string, flag int, perm uint32) (int, error) {
	var n int
	err := retry(func() (err error) {
		n, err = unix.Openat(fd, name, flag, perm)
		return err
	})
	return n, err
}

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// statPath looks at a path without following a link in its last component.
func statPath(path string) (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return newInfo(path, &st), nil
}

func fileInfo(f *os.File) (fs.FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return newInfo(f.Name(), &st), nil
}

func keepOwner(f *os.File, old fs.FileInfo) {
	o := old.(*info)
	_ = f.Chown(int(o.uid), int(o.gid))
}

func same(a, b fs.FileInfo) bool {
	x, okX := a.(*info)
	y, okY := b.(*info)
	return okX && okY && x.dev == y.dev && x.ino == y.ino
}

// info is a fs.FileInfo with the identity of the file.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modTime  time.Time
	dev, ino uint64
	uid, gid uint32
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.mode }
func (i *info) ModTime() time.Time { return i.modTime }
func (i *info) IsDir() bool        { return i.mode.IsDir() }
func (i *info) Sys() any           { return nil }

func newInfo(name string, st *unix.Stat_t) *info {
	return &info{
		name:    name,
		size:    st.Size,
		mode:    fileMode(uint32(st.Mode)),
		modTime: time.Unix(st.Mtim.Unix()),
		dev:     uint64(st.Dev),
		ino:     st.Ino,
		uid:     st.Uid,
		gid:     st.Gid,
	}
}

func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFREG:
	default:
		mode |= fs.ModeIrregular
	}
	for _, bit := range [...]struct {
		sys uint32
		std fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if m&bit.sys != 0 {
			mode |= bit.std
		}
	}
	return mode
}
