package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Home looks at the configuration directory: it must be writable, and its user's
// alone.
func Home(dir string) []Finding {
	found := []Finding{Directory("home", dir)}
	info, err := os.Stat(dir)
	if err != nil || runtime.GOOS == "windows" { // no permission bits
		return found
	}
	if others := info.Mode().Perm() & 0o077; others != 0 {
		found = append(found, warn("home", "chmod 700 "+dir, "other users can reach %s (mode %#o), which holds keys and conversations", dir, info.Mode().Perm()))
	}
	return found
}

// Directory looks whether a directory exists, or can be made, and is writable.
func Directory(check, dir string) Finding {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		above := existing(dir)
		if err := writable(above); err != nil {
			return fail(check, "make it by hand, or give the right to write in "+above, "%s does not exist and cannot be made: %v", dir, err)
		}
		return ok(check, "%s does not exist yet; it is made when needed", dir)
	}
	if err != nil {
		return fail(check, "check its owner and permissions", "%s cannot be looked at: %v", dir, err)
	}
	if !info.IsDir() {
		return fail(check, "move the file away, or choose another directory", "%s is a file; it must be a directory", dir)
	}
	if err := writable(dir); err != nil {
		return fail(check, "check its owner and permissions, and that the disk is not read-only", "%s cannot be written: %v", dir, err)
	}
	return ok(check, "%s is writable", dir)
}

// existing is the nearest directory above path that exists.
func existing(path string) string {
	for {
		up := filepath.Dir(path)
		if _, err := os.Stat(up); err == nil || up == path {
			return up
		}
		path = up
	}
}

const (
	// littleRoom is where a long session may not fit any more, noRoom where a
	// turn may not.
	littleRoom = 500 << 20
	noRoom     = 50 << 20
)

// Disk looks how much room there is where sessions are kept.
func Disk(dir string) Finding {
	if _, err := os.Stat(dir); err != nil {
		dir = existing(dir)
	}
	free, err := freeBytes(dir)
	if err != nil {
		return Skipped("disk", "how much room "+dir+" has is unknown: "+err.Error())
	}
	const fix = "make room, or set data_dir to another disk"
	switch mib := free >> 20; {
	case free < noRoom:
		return fail("disk", fix, "only %d MiB are free in %s", mib, dir)
	case free < littleRoom:
		return warn("disk", fix, "only %d MiB are free in %s", mib, dir)
	default:
		return ok("disk", "%d MiB are free in %s", mib, dir)
	}
}
