package native

import (
	"sync"
	"time"
)

// budget counts what a session did within the last hour.
type budget struct {
	mu   sync.Mutex
	used []time.Time // oldest first
}

// take uses one action of limit an hour and reports whether there was one
// left; 0 is no limit.
func (b *budget) take(now time.Time, limit int) bool {
	if limit <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.used) > 0 && now.Sub(b.used[0]) >= time.Hour {
		b.used = b.used[1:]
	}
	if len(b.used) >= limit {
		return false
	}
	b.used = append(b.used, now)
	return true
}
