//go:build !linux

package main

import "errors"

func mountReadOnly(string) (undo func(), err error) {
	return nil, errors.New("no read-only mounts here")
}
