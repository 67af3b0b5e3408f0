package tool

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// maxExpanded bounds what a pattern in a command may stand for before policy
// has to do without knowing.
const maxExpanded = 1000

// expand returns the paths a pattern in a command stands for, as sh would with
// from as its directory, and false when that cannot be told. What it returns
// may be more than sh finds, never less.
func (e *Env) expand(pattern, from string) ([]policy.Path, bool) {
	if strings.Contains(pattern, "[^") || strings.Contains(pattern, "[:") || strings.Contains(pattern, "[.") || strings.Contains(pattern, "[=") {
		return nil, false // what shells and path.Match take for different things
	}
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	found := []string{from}
	if filepath.IsAbs(pattern) {
		found = []string{filepath.VolumeName(pattern) + string(filepath.Separator)}
	}
	for part := range strings.SplitSeq(pattern, "/") {
		var err error
		if found, err = e.expandPart(found, part); err != nil || len(found) > maxExpanded {
			return nil, false
		}
	}
	first, _, _ := strings.Cut(pattern, "/")
	bare := strings.ContainsAny(first, "*?[")
	paths := make([]policy.Path, len(found))
	for i, f := range found {
		paths[i] = e.look(f, from)
		paths[i].Option = bare && strings.HasPrefix(strings.TrimPrefix(f, from+string(filepath.Separator)), "-")
	}
	return paths, true
}

// expandPart goes one component down from every directory.
func (e *Env) expandPart(dirs []string, part string) ([]string, error) {
	var found []string
	for _, dir := range dirs {
		if !strings.ContainsAny(part, "*?[") {
			found = append(found, filepath.Join(dir, strings.ReplaceAll(part, `\`, "")))
			continue
		}
		names, err := e.namesIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
			ok, err := fits(part, name)
			if err != nil {
				return nil, err
			}
			if ok && !hidden {
				found = append(found, filepath.Join(dir, name))
			}
		}
	}
	return found, nil
}

// fits matches as shells do that count characters, and as those that count
// bytes: for these ?? is é.
func fits(pattern, name string) (bool, error) {
	ok, err := path.Match(pattern, name)
	if ok || err != nil {
		return ok, err
	}
	return path.Match(byteRunes(pattern), byteRunes(name))
}

// byteRunes makes a character of every byte.
func byteRunes(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// namesIn lists a directory; what is none has no names.
func (e *Env) namesIn(dir string) ([]string, error) {
	t, err := e.Roots.Resolve(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsroot.ErrDangling):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer func() { _ = t.Close() }()
	if !t.IsDir() {
		return nil, nil
	}
	entries, more, err := t.ReadDir(maxExpanded)
	if more && err == nil {
		err = errors.New("too many names")
	}
	names := []string{".", ".."}
	for _, entry := range entries {
		names = append(names, entry.Name)
	}
	return names, err
}
