// Package allowance holds whoever talks without being asked to a rate at which
// what they say can be handled.
package allowance

import "time"

// Allowance is a rate with a burst. It is for one goroutine.
type Allowance struct {
	Burst float64 // how much may come at once
	Rate  float64 // how much may come per second after that; above 0

	used float64
	last time.Time
}

// Take uses n and returns how long to wait before more is taken.
func (a *Allowance) Take(n int, now time.Time) time.Duration {
	if !a.last.IsZero() {
		a.used = max(0, a.used-now.Sub(a.last).Seconds()*a.Rate)
	}
	a.last = now
	a.used += float64(n)
	if a.used <= a.Burst {
		return 0
	}
	return time.Duration((a.used - a.Burst) / a.Rate * float64(time.Second))
}
