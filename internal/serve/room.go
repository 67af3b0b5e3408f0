package serve

import "sync"

const (
	// roomBytes bounds what a connection has taken on and not begun or ended.
	// Past it nothing more is taken, and in the end nothing more is read, so
	// that a client that asks and does not read the answers costs no memory.
	roomBytes = 32 << 20
	// workCost is what a request costs beside its params: a goroutine, a read of
	// the store, the answer.
	workCost = 64 << 10
)

// room is how much work there is, in bytes. One piece is always let in,
// whatever its size. The zero value is empty.
type room struct {
	mu    sync.Mutex
	used  int64
	freed chan struct{} // closed when there is more room; nil while nobody waits
}

// take waits until there is room, or until done is closed.
func (r *room) take(done <-chan struct{}, size int64) {
	for {
		freed := r.try(size)
		if freed == nil {
			return
		}
		select {
		case <-freed:
		case <-done:
			r.give(-size)
			return
		}
	}
}

// try takes the room if there is enough, or returns what to wait for.
func (r *room) try(size int64) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == 0 || r.used+size <= roomBytes {
		r.used += size
		return nil
	}
	if r.freed == nil {
		r.freed = make(chan struct{})
	}
	return r.freed
}

func (r *room) give(size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= size
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}
