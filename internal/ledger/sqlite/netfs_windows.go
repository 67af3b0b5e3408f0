package sqlite

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// networkFileSystem names the network file system dir is on; "" for a local one.
func networkFileSystem(dir string) string {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return "share " + volume
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "drive " + volume
	}
	return ""
}
