package stdio

import (
	"time"
)

const (
	// ratePerSecond is how many messages of its own accord a server may send.
	ratePerSecond = 2000
	// rateBurst is how many of them may come at once.
	rateBurst = 4000
)

// rate holds a server that talks without being asked to a speed at which what
// it says can be handled. Its zero value is full.
type rate struct {
	used float64
	last time.Time
}

// take counts one message and returns how long to wait before the next.
func (r *rate) take(now time.Time) time.Duration {
	if !r.last.IsZero() {
		r.used = max(0, r.used-now.Sub(r.last).Seconds()*ratePerSecond)
	}
	r.last = now
	r.used++
	if r.used <= rateBurst {
		return 0
	}
	return time.Duration((r.used - rateBurst) / ratePerSecond * float64(time.Second))
}
