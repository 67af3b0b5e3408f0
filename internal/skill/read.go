package skill

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// manifest is the file that makes a folder a skill.
const manifest = "SKILL.md"

// file is what was found in a SKILL.md when it had this size and time.
type file struct {
	size    int64
	time    time.Time
	skill   Skill
	problem string
}

// Read lists the skills of the places. Of two with one name the earlier place's
// counts. Files that are as they were in before, which may be nil, are not read
// again. opts say which paths are forbidden.
func Read(places []Place, opts fsroot.Options, before *Catalogue) *Catalogue {
	opts.Anywhere = false
	c := &Catalogue{opts: opts, files: make(map[string]file)}
	for _, p := range places {
		r := &reader{Catalogue: c, place: p, before: before}
		r.read()
		r.finish()
	}
	return c
}

// reader reads one place into a catalogue.
type reader struct {
	*Catalogue
	place  Place
	before *Catalogue
	set    *fsroot.Set
	found  []Skill
}

func (r *reader) problem(path, reason string) {
	r.Problems = append(r.Problems, Problem{path, reason})
}

func (r *reader) path(parts ...string) string {
	return filepath.Join(append([]string{r.place.Root, r.place.Dir}, parts...)...)
}

func (r *reader) read() {
	if _, err := os.Lstat(r.path()); errors.Is(err, fs.ErrNotExist) {
		return // most places are not there, and to open one costs a fifth of a millisecond
	}
	set, err := open(r.place.Root, r.opts)
	if err != nil {
		return // there is no such place
	}
	defer set.Close()
	r.set = set
	target, err := set.Resolve(r.place.Dir)
	if err != nil {
		r.problem(r.path(), r.why(err))
		return
	}
	defer target.Close()
	if !target.Exists {
		return
	}
	names, more, err := target.ReadDir(maxFolders)
	if err != nil {
		r.problem(r.path(), err.Error())
		return
	}
	for _, n := range names {
		if n.Type.IsRegular() || strings.HasPrefix(n.Name, ".") {
			continue
		}
		if len(r.found) == MaxSkills {
			more = true
			break
		}
		r.folder(n.Name)
	}
	if more {
		r.problem(r.path(), fmt.Sprintf("it holds more than the %d skills that are used; move some away", MaxSkills))
	}
}

// why is a refusal in words about skills.
func (r *reader) why(err error) string {
	if errors.Is(err, fsroot.ErrOutside) {
		return fmt.Sprintf("it is a link that leads out of %s; put the folder itself there", r.place.Root)
	}
	return err.Error()
}

// open opens the root a place lies in; relative paths start there.
func open(root string, opts fsroot.Options) (*fsroot.Set, error) {
	return fsroot.Open([]fsroot.Root{{Path: root, Name: fsroot.NameCwd}}, opts)
}

// folder takes one folder, if it is a skill.
func (r *reader) folder(name string) {
	dir, err := r.set.Resolve(filepath.Join(r.place.Dir, name))
	if err != nil {
		r.problem(r.path(name), r.why(err))
		return
	}
	defer dir.Close()
	if !dir.IsDir() {
		return
	}
	path := r.path(name, manifest)
	target, err := r.set.Resolve(filepath.Join(r.place.Dir, name, manifest))
	if err != nil {
		r.problem(path, r.why(err))
		return
	}
	defer target.Close()
	if !target.Exists {
		return
	}
	f := r.manifest(target, dir, name, path)
	r.files[path] = f
	if f.problem != "" {
		r.problem(path, f.problem)
		return
	}
	r.take(f.skill)
}

// manifest reads a SKILL.md, or finds that it is as it was.
func (r *reader) manifest(t, dir *fsroot.Target, name, path string) file {
	f := file{size: t.Info.Size(), time: t.Info.ModTime()}
	if r.before != nil {
		if old, ok := r.before.files[path]; ok && old.size == f.size && old.time.Equal(f.time) {
			return old
		}
	}
	if !inside(t.Abs, dir.Abs) {
		f.problem = "it is a link that leads out of the skill's folder; put the file itself there"
		return f
	}
	data, err := t.ReadFile(MaxFile)
	if errors.Is(err, fsroot.ErrTooLarge) {
		err = fmt.Errorf("it is larger than %d KiB; move details to further files of the folder", MaxFile>>10)
	}
	if err == nil {
		f.skill, _, err = parse(data, name)
	}
	if err != nil {
		f.problem = err.Error()
		return f
	}
	f.skill.Origin, f.skill.Path = r.place.Origin, path
	f.skill.root, f.skill.dir = r.place.Root, filepath.Join(r.place.Dir, name)
	return f
}

// take adds a skill unless its name is taken. An agent's own may take the place
// of a shared one; a project's takes nobody's.
func (r *reader) take(s Skill) {
	for _, other := range r.found {
		if other.Name == s.Name {
			r.problem(s.Path, fmt.Sprintf("the name %q is taken by %s; give it another", s.Name, other.Path))
			return
		}
	}
	if other, taken := r.Find(s.Name); taken {
		if s.Origin == Project {
			r.problem(s.Path, fmt.Sprintf("the name %q is taken by your own %s, which is used; a project's skill cannot replace it", s.Name, other.Path))
		}
		return
	}
	r.found = append(r.found, s)
}

func (r *reader) finish() {
	slices.SortFunc(r.found, func(a, b Skill) int { return cmp.Compare(a.Name, b.Name) })
	r.Skills = append(r.Skills, r.found...)
}

// inside reports whether a real path lies below a real directory.
func inside(abs, dir string) bool {
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}
