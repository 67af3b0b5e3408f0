package cgroup

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// ownPath is the directory of the group this process is in.
func ownPath() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	member, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	group, ok := groupIn(string(member))
	if !ok {
		return "", ErrNone
	}
	return locate(string(mounts), group)
}

// groupIn finds the group of version 2 in the text of /proc/PID/cgroup.
func groupIn(member string) (string, bool) {
	for line := range strings.Lines(member) {
		if group, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return group, strings.HasPrefix(group, "/")
		}
	}
	return "", false
}

// locate finds the directory of a group in the text of /proc/self/mountinfo.
func locate(mounts, group string) (string, error) {
	err := ErrNone
	hidden := fmt.Errorf("the control group of this process, %s, is out of sight", group)
	if group != path.Clean(group) { // "/..": outside of the namespace
		return "", hidden
	}
	for line := range strings.Lines(mounts) {
		place, source, ok := strings.Cut(line, " - ")
		fields := strings.Fields(place)
		if !ok || len(fields) < 5 || !strings.HasPrefix(source, "cgroup2 ") {
			continue
		}
		// The mount may show only a part of the hierarchy.
		rel, relErr := filepath.Rel(unescape(fields[3]), group)
		if relErr != nil || !filepath.IsLocal(rel) {
			err = hidden
			continue
		}
		return filepath.Join(unescape(fields[4]), rel), nil
	}
	return "", err
}

// unescape undoes what the kernel does to blanks: \040 and the like.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
