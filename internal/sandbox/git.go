package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// A working tree's repository may lie elsewhere: a worktree has the common
// directory of its main repository, a submodule a directory of its parent's.
// Such a directory is granted with the tree, if it knows the tree too: the
// pointer in the tree alone is for anybody to write.

// gitDirs returns the repository directories of the working tree at root, the
// one that has the settings and hooks first. There are none where root is no
// working tree.
func gitDirs(root string) []string {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return nil
	case info.IsDir():
		return []string{dot}
	case !info.Mode().IsRegular():
		return nil
	}
	dir, ok := strings.CutPrefix(firstLine(dot), "gitdir:")
	if !ok {
		return nil
	}
	dir = from(root, strings.TrimSpace(dir))
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	if common, ok := commonDir(real, dot); ok {
		return []string{common, real}
	}
	if strings.Contains(real, "/.git/modules/") && moduleOf(real, root) {
		return []string{real}
	}
	return nil
}

// commonDir returns the common directory of the worktree directory dir, if that
// belongs to the tree whose pointer is dot.
func commonDir(dir, dot string) (string, bool) {
	back := firstLine(filepath.Join(dir, "gitdir"))
	common := firstLine(filepath.Join(dir, "commondir"))
	if back == "" || common == "" || !samePlace(from(dir, back), dot) {
		return "", false
	}
	real, err := filepath.EvalSymlinks(from(dir, common))
	if err != nil || !within(dir, filepath.Join(real, "worktrees")) {
		return "", false
	}
	return real, true
}

// moduleOf reports whether the repository in dir is that of the submodule root.
func moduleOf(dir, root string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(name) == "worktree" && samePlace(from(dir, strings.TrimSpace(value)), root) {
			return true
		}
	}
	return false
}

// gitGuards are the places in a repository directory that make git run
// programs. A hooks directory that is missing is made, as git init does, since
// it could not be withheld otherwise.
func gitGuards(dir string) []string {
	config, hooks := filepath.Join(dir, "config"), filepath.Join(dir, "hooks")
	if info, err := os.Lstat(config); err != nil || !info.Mode().IsRegular() {
		return nil // no repository yet
	}
	_ = os.Mkdir(hooks, 0o755) // there already, mostly
	guards := []string{config}
	if info, err := os.Lstat(hooks); err == nil && info.IsDir() {
		guards = append(guards, hooks)
	}
	return guards
}

func firstLine(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4096 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func samePlace(a, b string) bool {
	x, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}
	y, err := filepath.EvalSymlinks(b)
	return err == nil && x == y
}
