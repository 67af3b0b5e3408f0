package fsroot

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
)

const (
	// maxMatches bounds what a pattern may match before it is too much to judge.
	maxMatches = 1000
	// maxNames bounds the directories a pattern is compared with.
	maxNames = 10_000
)

// Match returns the places a shell pattern of * and ? matches, and false when
// that cannot be told: for other patterns, in directories outside the roots, or
// when there are too many. A pattern without a match stands for itself, as in a
// shell. from is as for Look.
func (s *Set) Match(pattern, from string) ([]Place, bool) {
	if strings.ContainsAny(pattern, "[]") {
		return nil, false
	}
	base := "."
	names := strings.Split(filepath.ToSlash(pattern), "/")
	if filepath.IsAbs(pattern) {
		base, names = filepath.VolumeName(pattern)+string(filepath.Separator), names[1:]
	}
	found := []string{base}
	for i, name := range names {
		next, ok := s.matchIn(found, name, from, i == len(names)-1)
		if !ok {
			return nil, false
		}
		found = next
	}
	if len(found) == 0 {
		found = []string{pattern}
	}
	places := make([]Place, len(found))
	for i, f := range found {
		places[i] = s.Look(f, from)
	}
	return places, true
}

// matchIn returns what one component of a pattern matches in the directories.
func (s *Set) matchIn(dirs []string, name, from string, last bool) ([]string, bool) {
	var found []string
	for _, d := range dirs {
		if !strings.ContainsAny(name, `*?\`) {
			if next := filepath.Join(d, name); !last || len(dirs) == 1 || !s.missingFrom(next, from) {
				found = append(found, next)
			}
			continue
		}
		list, ok := s.matchNames(d, name, from, last)
		if !ok || len(found)+len(list) > maxMatches {
			return nil, false
		}
		found = append(found, list...)
	}
	return found, true
}

func (s *Set) matchNames(d, name, from string, last bool) ([]string, bool) {
	t, err := s.Resolve(under(d, from))
	if err != nil {
		return nil, false
	}
	defer t.Close()
	if !t.IsDir() {
		return nil, true
	}
	entries, more, err := t.ReadDir(maxNames)
	if err != nil || more {
		return nil, false
	}
	var found []string
	for _, e := range entries {
		ok, err := path.Match(name, e.Name)
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(name, ".") {
			continue
		}
		if ok && (last || !e.Type.IsRegular()) {
			found = append(found, filepath.Join(d, e.Name))
		}
	}
	return found, true
}

// missingFrom reports whether a candidate certainly does not exist.
func (s *Set) missingFrom(candidate, from string) bool {
	t, err := s.Resolve(under(candidate, from))
	if err != nil {
		return errors.Is(err, errNotDir)
	}
	defer t.Close()
	return !t.Exists
}

// under places a relative path in the directory from, if there is one.
func under(path, from string) string {
	if from == "" || filepath.IsAbs(path) {
		return path
	}
	return from + string(filepath.Separator) + path
}
