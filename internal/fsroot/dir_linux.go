package fsroot

import "golang.org/x/sys/unix"

// dirFlags open a directory to walk through it: O_PATH needs no permission to
// list it.
const dirFlags = unix.O_PATH
