package fsroot

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// list reads at most max names, sorted. Which ones a directory of more than max
// names yields is up to the system.
func (d *dir) list(path string, max int) (entries []DirEntry, more bool, err error) {
	f, err := d.names(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	for !more {
		batch, err := f.ReadDir(256)
		for _, e := range batch {
			if len(entries) == max {
				more = true
				break
			}
			entries = append(entries, DirEntry{Name: e.Name(), Type: e.Type()})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(entries, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return entries, more, nil
}
