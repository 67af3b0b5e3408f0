//go:build linux

package hostile

import "golang.org/x/sys/unix"

// exchange swaps two names at once.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
