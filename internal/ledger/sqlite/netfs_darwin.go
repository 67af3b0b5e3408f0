package sqlite

import "golang.org/x/sys/unix"

// networkFileSystem names the network file system dir is on; "" for a local one.
func networkFileSystem(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	switch name := unix.ByteSliceToString(st.Fstypename[:]); name {
	case "nfs", "smbfs", "afpfs", "webdav", "ftp", "sshfs", "macfuse_sshfs":
		return name
	}
	return ""
}
