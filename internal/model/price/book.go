package price

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// maxFile bounds a file of prices, in bytes.
const maxFile = 1 << 20

// Book is the user's own prices: a file that is read when it is first needed, and
// again when it has changed. It is safe for concurrent use.
type Book struct {
	path   string
	report func(error)

	mu   sync.Mutex
	seen stamp
	list []Entry
}

// stamp tells one state of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// NewBook returns the book of a file, which need not exist. report is told, once
// for each state of the file, why it cannot be used; then no price is the user's.
func NewBook(path string, report func(error)) *Book {
	return &Book{path: path, report: report}
}

// Find returns what the user says of a model.
func (b *Book) Find(id string) (Entry, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := stampOf(b.path); now != b.seen {
		list, err := Load(b.path)
		b.list, b.seen = list, now
		if err != nil {
			b.report(fmt.Errorf("%w; the built-in prices are used until it is mended", err))
		}
	}
	return find(b.list, id)
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// Load reads a file of prices; one that does not exist is empty. The error is a
// *Problem.
func Load(path string) ([]Entry, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Problem{File: path, Message: "cannot be read: " + reason(err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, &Problem{File: path, Message: "cannot be read: " + reason(err)}
	case len(text) > maxFile:
		return nil, &Problem{File: path, Message: "is larger than 1 MiB"}
	}
	return Parse(path, text)
}

// reason is an error without the path, which is told already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
