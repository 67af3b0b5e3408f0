package sandbox

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// A repository names programs that git runs, also for whoever comes later and
// is not confined. Bubblewrap withholds the settings and hooks there are; what a
// command may still make, and on other rungs all of it, is compared afterwards
// and put back.

// undone ends the name of what was put aside, under which git does not look.
const undone = ".undone"

// Bounds of what is kept of one repository.
const (
	maxSettings    = 1 << 20
	maxSettingSize = 1 << 20
	maxSettingDirs = 2000
)

// GitSettings is what makes git run programs in the session's directories, as
// it was at one time.
type GitSettings struct {
	trees []gitTree
}

// gitTree is one session directory with a repository, or the repository of one
// that lies elsewhere.
type gitTree struct {
	root    string
	dir     string // of the repository, in root
	guarded bool   // settings and hooks are withheld from commands
	before  map[string]setting
	// modules are the repositories of submodules, by their paths in the root.
	modules map[string]map[string]setting
}

// setting is one file, link or directory, by its path in the root.
type setting struct {
	mode   fs.FileMode
	data   string // of a file
	target string // of a link
}

// GitSettings notes how the repositories of the session are set up. It reads a
// few small files.
func (b *Box) GitSettings(st Status) *GitSettings {
	g := &GitSettings{}
	guarded := st.Rung == Bubblewrap
	for _, dir := range b.roots() {
		g.note(gitTree{root: dir, dir: ".git", guarded: guarded, modules: map[string]map[string]setting{}})
		for _, elsewhere := range gitDirs(dir) {
			if !within(elsewhere, dir) {
				g.note(gitTree{root: elsewhere, dir: ".", guarded: guarded})
			}
		}
	}
	return g
}

func (g *GitSettings) note(t gitTree) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return // whatever is there, no command reaches it either
	}
	t.before = t.look(root)
	if t.modules != nil {
		t.modules = modules(root, t.root)
	}
	_ = root.Close()
	if len(t.before) > 0 {
		g.trees = append(g.trees, t)
	}
}

// PutBack undoes what has changed since, and returns the paths. What was there
// instead is kept under a name with .undone at its end. No command that could
// change it again may run meanwhile.
func (g *GitSettings) PutBack() ([]string, error) {
	var changed []string
	var errs []error
	for _, t := range g.trees {
		root, err := os.OpenRoot(t.root)
		if err != nil {
			continue
		}
		list, err := t.putBack(root)
		if t.modules != nil {
			more, mishaps := t.putBackModules(root)
			list, err = append(list, more...), errors.Join(append(mishaps, err)...)
		}
		_ = root.Close()
		for _, name := range list {
			changed = append(changed, path.Join(t.root, name))
		}
		errs = append(errs, err)
	}
	return changed, errors.Join(errs...)
}

func (t gitTree) putBack(root *os.Root) ([]string, error) {
	now := t.look(root)
	if maps.Equal(now, t.before) {
		return nil, nil
	}
	names := slices.Collect(maps.Keys(t.before))
	for name := range now {
		if _, ok := t.before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(a, b) }) // directories before what they hold
	var changed []string
	var errs []error
	for _, name := range names {
		was, had := t.before[name]
		is, has := read(root, name)
		if had == has && was == is {
			continue
		}
		changed = append(changed, name)
		if err := replace(root, name, was, had, has); err != nil {
			errs = append(errs, err)
		}
		if name == t.dir {
			break // without it the rest means nothing
		}
	}
	return changed, errors.Join(errs...)
}

// replace puts aside what is there, and back what was.
func replace(root *os.Root, name string, was setting, had, has bool) error {
	if has {
		if err := errors.Join(root.RemoveAll(name+undone), root.Rename(name, name+undone)); err != nil {
			return errors.Join(err, root.RemoveAll(name))
		}
	}
	switch {
	case !had:
		return nil
	case was.mode.IsDir():
		return root.MkdirAll(name, was.mode.Perm())
	case was.mode&fs.ModeSymlink != 0:
		return root.Symlink(was.target, name)
	}
	return errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, []byte(was.data), was.mode.Perm()))
}

// look reads the settings of the repository in root; none where there is no
// repository.
func (t gitTree) look(root *os.Root) map[string]setting {
	found := make(map[string]setting)
	dot, ok := read(root, t.dir)
	if !ok {
		return nil
	}
	found[t.dir] = dot
	if !dot.mode.IsDir() {
		return found
	}
	names := []string{"commondir", "config.worktree"}
	if !t.guarded {
		names = append(names, "config", "hooks")
	}
	for _, name := range names {
		add(root, path.Join(t.dir, name), found)
	}
	visited := 0
	for _, dir := range []string{"modules", "worktrees"} {
		_ = fs.WalkDir(root.FS(), path.Join(t.dir, dir), func(name string, d fs.DirEntry, err error) error { // there may be none
			if visited++; err != nil || visited > maxSettingDirs {
				return fs.SkipDir
			}
			switch d.Name() {
			case "objects", "refs", "logs":
				return fs.SkipDir
			case "config", "config.worktree", "commondir", "gitdir", "hooks":
				add(root, name, found)
			}
			return nil
		})
	}
	return found
}

// add notes a setting; of a directory, which holds hooks, all that it runs.
func add(root *os.Root, name string, found map[string]setting) {
	if path.Ext(name) == ".sample" || strings.HasSuffix(name, undone) || len(found) > maxSettings {
		return
	}
	s, ok := read(root, name)
	if !ok {
		return
	}
	found[name] = s
	if !s.mode.IsDir() {
		return
	}
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			add(root, path.Join(name, e.Name()), found)
		}
	}
}

// read reads one setting; what is too large for one is told by its size only.
func read(root *os.Root, name string) (setting, bool) {
	info, err := root.Lstat(name)
	if err != nil {
		return setting{}, false
	}
	s := setting{mode: info.Mode()}
	switch {
	case info.IsDir():
		s.mode = fs.ModeDir | 0o755 // its own rights are nothing to git
	case info.Mode()&fs.ModeSymlink != 0:
		s.target, _ = root.Readlink(name)
	case info.Mode().IsRegular() && info.Size() <= maxSettingSize:
		data, err := root.ReadFile(name)
		if err == nil {
			s.data = string(data)
		}
	}
	return s, true
}
