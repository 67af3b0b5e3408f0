package main

import "golang.org/x/sys/unix"

// mountReadOnly lays a read-only view of dir over it, which holds for root too.
func mountReadOnly(dir string) (undo func(), err error) {
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		return nil, err
	}
	undo = func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}
