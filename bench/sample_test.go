package bench

import (
	"slices"
	"testing"
	"time"
)

// sample are durations of the same thing, measured again and again.
type sample []time.Duration

// add measures f.
func (s *sample) add(f func()) {
	start := time.Now()
	f()
	*s = append(*s, time.Since(start))
}

// at returns the quantile q, of 0 to 1.
func (s sample) at(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[int(q*float64(len(sorted)-1))]
}

func (s sample) p50() time.Duration { return s.at(0.5) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// untimed runs f outside the benchmark's own time.
func untimed(b *testing.B, f func()) {
	b.StopTimer()
	f()
	b.StartTimer()
}
