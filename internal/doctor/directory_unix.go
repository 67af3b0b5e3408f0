//go:build unix

package doctor

import "golang.org/x/sys/unix"

// writable asks the system, which also knows read-only mounts. Nothing is
// written.
func writable(path string) error { return unix.Access(path, unix.W_OK) }

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}

func alive(pid int) bool { return unix.Kill(pid, 0) == nil }
