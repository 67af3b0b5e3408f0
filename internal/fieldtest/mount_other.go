//go:build !linux

package fieldtest

import "errors"

var errNoMounts = errors.New("this system offers no mounts to a test")

func mount(string, string, bool) (undo func(), err error) { return nil, errNoMounts }

func remount(string, string) error { return errNoMounts }
