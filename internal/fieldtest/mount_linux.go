package fieldtest

import "golang.org/x/sys/unix"

// mount lays a read-only view of dir, or a new disk with options, over it.
func mount(dir, options string, readOnly bool) (undo func(), err error) {
	if readOnly {
		err = unix.Mount(dir, dir, "", unix.MS_BIND, "")
	} else {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, options)
	}
	if err != nil {
		return nil, err
	}
	undo = func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }
	if readOnly {
		if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			undo()
			return nil, err
		}
	}
	return undo, nil
}

func remount(dir, options string) error { return unix.Mount("", dir, "", unix.MS_REMOUNT, options) }
