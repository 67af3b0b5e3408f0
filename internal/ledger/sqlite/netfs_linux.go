package sqlite

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// networkFileSystem names the network file system dir is on; "" for a local one.
func networkFileSystem(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	if uint32(st.Type) != unix.FUSE_SUPER_MAGIC {
		return networkMagic(uint32(st.Type))
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return networkFuse(mountType(string(mounts), dir))
}

// networkMagic names file systems shared between machines by their statfs(2)
// number.
func networkMagic(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "smb"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.NCP_SUPER_MAGIC:
		return "ncpfs"
	}
	return ""
}

// networkFuse is the type of a FUSE mount if it is a network one. FUSE carries
// local file systems too (ntfs-3g, overlays).
func networkFuse(mount string) string {
	for _, name := range []string{"sshfs", "rclone", "s3fs", "gcsfuse", "davfs", "curlftpfs", "glusterfs", "smbnetfs", "gvfsd-fuse", "ceph-fuse", "juicefs"} {
		if strings.TrimPrefix(mount, "fuse.") == name {
			return mount
		}
	}
	return ""
}

// mountType is the file system type of the mount that holds dir, from the text
// of /proc/<pid>/mountinfo (proc_pid_mountinfo(5)).
func mountType(mountinfo, dir string) string {
	var best, kind string
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(types) < 1 {
			continue
		}
		// Of mounts on one place the last is the one seen.
		if point := unescape.Replace(fields[4]); within(dir, point) && len(point) >= len(best) {
			best, kind = point, types[0]
		}
	}
	return kind
}

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
