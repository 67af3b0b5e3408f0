//go:build unix && !linux

package fsroot

import "golang.org/x/sys/unix"

// dirFlags open a directory to walk through it. Without O_PATH it has to be
// listable.
const dirFlags = unix.O_RDONLY
