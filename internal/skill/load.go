package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// ErrNoSkill says that there is no skill of a name.
var ErrNoSkill = errors.New("there is no such skill")

// Text is what was read of a skill.
type Text struct {
	Skill Skill
	Text  string
	Files []string // of the folder, with slashes; only beside the skill's own text
}

// OwnText reports whether a path in a skill's folder names the skill's own text.
// The empty path does.
func OwnText(path string) bool {
	return path == "" || strings.EqualFold(filepath.Clean(filepath.FromSlash(path)), manifest)
}

// Load reads a skill's own text, or another file of its folder by its relative
// path, as it is on disk now. Errors are one sentence for whoever asked. It may
// be called on nil.
func (c *Catalogue) Load(name, path string) (Text, error) {
	s, ok := c.Find(name)
	if !ok {
		return Text{}, fmt.Errorf("%w: %q; the system prompt lists those there are", ErrNoSkill, printable.Short(name, 80))
	}
	if OwnText(path) {
		path = manifest
	}
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return Text{}, fmt.Errorf("%q is not a path inside the skill's folder; name a file by its path relative to it", printable.Short(path, 80))
	}
	set, err := open(s.root, c.opts)
	if err != nil {
		return Text{}, err
	}
	defer set.Close()
	data, err := s.data(set, filepath.FromSlash(path))
	if err != nil {
		return Text{}, err
	}
	t := Text{Skill: s}
	if path != manifest {
		t.Text, err = plain(data, path)
		return t, err
	}
	if _, t.Text, err = parse(data, name); err != nil {
		return Text{}, fmt.Errorf("%s: %w", s.Path, err)
	}
	t.Files = s.files(set)
	return t, nil
}

// data reads a file of the skill's folder.
func (s Skill) data(set *fsroot.Set, path string) ([]byte, error) {
	dir, err := set.Resolve(s.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	t, err := set.Resolve(filepath.Join(s.dir, path))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	switch {
	case !inside(t.Abs, dir.Abs):
		return nil, fmt.Errorf("%s leads out of the folder of skill %s; only what lies inside can be read", path, s.Name)
	case !t.Exists:
		return nil, fmt.Errorf("skill %s has no file %q: %w", s.Name, printable.Short(path, 200), fs.ErrNotExist)
	}
	data, err := t.ReadFile(MaxFile)
	if errors.Is(err, fsroot.ErrTooLarge) {
		err = fmt.Errorf("%s of skill %s is larger than the %d KiB that are read", path, s.Name, MaxFile>>10)
	}
	return data, err
}

// plain is the text of a file that is no SKILL.md.
func plain(data []byte, path string) (string, error) {
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%s is not a text file", path)
	}
	return string(data), nil
}

// files lists the further files of a skill's folder, some of them if there are
// very many.
func (s Skill) files(set *fsroot.Set) []string {
	dir, err := set.Resolve(s.dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	var names []string
	_, _ = set.Walk(context.Background(), dir, fsroot.WalkOptions{MaxEntries: 10 * maxFiles, MaxDepth: 4}, func(e *fsroot.Entry) error {
		switch {
		case !e.Type.IsRegular() || e.Path == manifest:
			return nil
		case len(names) == maxFiles:
			return fsroot.ErrStop
		}
		names = append(names, e.Path)
		return nil
	}) // a list that ends early is a list
	return names
}
