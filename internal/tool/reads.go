package tool

import (
	"crypto/sha256"
	"sync"
)

// Reads remembers what the model last saw of each file, so that an edit made
// against an old picture of a file is refused. Safe for concurrent use; a nil
// *Reads remembers nothing.
type Reads struct {
	mu   sync.Mutex
	seen map[string][sha256.Size]byte // by absolute path
}

// NewReads returns an empty memory, one per session.
func NewReads() *Reads {
	return &Reads{seen: make(map[string][sha256.Size]byte)}
}

// note records the whole text of a file as known to the model.
func (r *Reads) note(path, text string) {
	if r == nil {
		return
	}
	sum := sha256.Sum256([]byte(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[path] = sum
}

// stale reports whether the model saw the file and it reads otherwise now.
func (r *Reads) stale(path, text string) bool {
	if r == nil {
		return false
	}
	sum := sha256.Sum256([]byte(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	old, ok := r.seen[path]
	return ok && old != sum
}
