package mcp

import (
	"os"
	"path/filepath"
	"strings"
)

// Named are the places that the command line of a server names. Whoever set the
// server up has named them for it, so a sandbox lets it reach them.
type Named struct {
	Readable []string // its programs, with what is installed beside them
	Writable []string // directories it is given
}

// maxAbove is how far above a program its package is looked for.
const maxAbove = 6

// named finds the places in a server's command line.
func (s Server) named() Named {
	if s.Transport != Stdio {
		return Named{}
	}
	home, _ := os.UserHomeDir() // unknown: nothing is above it
	return named(append([]string{s.Command}, s.Args...), home)
}

// named finds the places in a command line: absolute paths that exist. The home
// directory and what holds it are never among them.
func named(argv []string, home string) Named {
	var n Named
	for i, arg := range argv {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		if !filepath.IsAbs(arg) {
			continue
		}
		path := filepath.Clean(arg)
		info, err := os.Stat(path)
		switch {
		case err != nil || holds(path, home):
		case info.IsDir():
			n.Writable = append(n.Writable, path)
		default:
			n.Readable = append(n.Readable, path)
			if dir := packageOf(path, home, i > 0); dir != "" {
				n.Readable = append(n.Readable, dir)
			}
		}
	}
	return n
}

// holds reports whether path is dir or lies above it.
func holds(path, dir string) bool {
	rel, err := filepath.Rel(path, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// packageOf is the directory of the package that a file belongs to, by what
// package systems put there. Without one it is the file's own directory where
// that is wanted, else "".
func packageOf(path, home string, own bool) string {
	const modules = string(filepath.Separator) + "node_modules"
	if at := strings.Index(path, modules+string(filepath.Separator)); at >= 0 { // packages there need each other
		return path[:at+len(modules)]
	}
	first := filepath.Dir(path)
	dir := first
	for range maxAbove {
		if holds(dir, home) {
			break
		}
		for _, mark := range []string{"package.json", "pyproject.toml", "pyvenv.cfg", "go.mod"} {
			if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
				return dir
			}
		}
		dir = filepath.Dir(dir)
	}
	if own && !holds(first, home) {
		return first
	}
	return ""
}
