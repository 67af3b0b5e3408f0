package policy

import (
	"path"
	"strings"
)

// slashed writes an absolute path with slashes, as patterns have them. Only a
// path of Windows has separators to replace: elsewhere a backslash is part of a
// name.
func slashed(p string) string {
	if hasDrive(p) || strings.HasPrefix(p, `\\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func hasDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

func isAbs(p string) bool { return path.IsAbs(slashed(p)) || hasDrive(p) }

// below reports whether the cleaned path p is root or lies in it.
func below(p, root string) bool {
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(root, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
