package door

import "time"

// bucket lets so many things happen per minute, and as many at once as it
// holds.
type bucket struct {
	size      float64
	perMinute float64
	level     float64 // below 0 when more was taken than there was
	at        time.Time
}

func newBucket(size, perMinute int, now time.Time) *bucket {
	return &bucket{float64(size), float64(perMinute), float64(size), now}
}

func (b *bucket) fill(now time.Time) {
	if gone := now.Sub(b.at); gone > 0 {
		b.level = min(b.size, b.level+gone.Minutes()*b.perMinute)
	}
	b.at = now
}

// wait returns how long until there is something to take; 0 when there is.
func (b *bucket) wait(now time.Time) time.Duration {
	b.fill(now)
	if b.level >= 1 {
		return 0
	}
	return time.Duration((1 - b.level) / b.perMinute * float64(time.Minute))
}

// take takes one, whether there is one or not; a debt has a bound.
func (b *bucket) take(now time.Time) {
	b.fill(now)
	b.level = max(b.level-1, -b.size)
}

// full reports whether nothing was taken lately.
func (b *bucket) full(now time.Time) bool {
	b.fill(now)
	return b.level >= b.size
}
