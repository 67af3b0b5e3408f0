package proc

import (
	"bytes"
	"slices"
	"sync"
)

const (
	// tailLines is how many of the last lines are kept.
	tailLines = 8
	// tailLine is how much is kept of one line, in bytes.
	tailLine = 300
)

// Tail keeps the last lines of what a program writes, however much that is. It
// is an io.Writer that never fails, safe for concurrent use. The zero value is
// ready.
type Tail struct {
	mu      sync.Mutex
	lines   []string
	partial []byte
}

// Write takes the next bytes.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := p
	if i := len(rest) - tailLines*2*tailLine; i > 0 { // all that can matter is at the end
		rest, t.partial = rest[i:], nil
	}
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			t.grow(rest)
			return len(p), nil
		}
		t.grow(rest[:i])
		t.end()
		rest = rest[i+1:]
	}
}

func (t *Tail) grow(b []byte) {
	t.partial = append(t.partial, b[:min(len(b), max(0, tailLine-len(t.partial)))]...)
}

func (t *Tail) end() {
	if text := bytes.TrimSpace(t.partial); len(text) > 0 {
		if len(t.lines) == tailLines {
			t.lines = slices.Delete(t.lines, 0, 1)
		}
		t.lines = append(t.lines, string(bytes.ToValidUTF8(text, []byte("?"))))
	}
	t.partial = t.partial[:0]
}

// Lines returns the last lines, oldest first, an unfinished one included.
func (t *Tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.lines)
	if text := bytes.TrimSpace(t.partial); len(text) > 0 {
		list = append(list, string(bytes.ToValidUTF8(text, []byte("?"))))
	}
	return list
}
