package sqlite

import (
	"slices"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// tries of a measurement: other programs disturb one, a cost that grows shows
// in all.
const tries = 4

// TestE3_AppendCostIsConstant compares the last appends of a session with its
// first.
func TestE3_AppendCostIsConstant(t *testing.T) {
	const appends, part = 5000, 500
	var ratio float64
	for range tries {
		l := openIn(t, t.TempDir())
		fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
		if err != nil {
			t.Fatal(err)
		}
		batch := session.Batch{Events: samples(1)}
		took := make([]time.Duration, appends)
		for i := range took {
			start := time.Now()
			if _, err := l.Append(t.Context(), "s_1", fence, batch); err != nil {
				t.Fatal(err)
			}
			took[i] = time.Since(start)
		}
		ratio = float64(median(took[appends-part:])) / float64(median(took[:part]))
		if ratio <= 2 {
			return
		}
	}
	t.Errorf("the last %d appends took %.1f times as long as the first", part, ratio)
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

// TestE4_LoadIsLinear pages through sessions of growing length, all larger than
// SQLite's cache.
func TestE4_LoadIsLinear(t *testing.T) {
	l := openIn(t, t.TempDir())
	var before time.Duration
	for _, length := range []int{20_000, 40_000, 80_000} {
		id := session.NewID("s")
		fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"})
		if err != nil {
			t.Fatal(err)
		}
		batch := session.Batch{Events: samples(100)}
		for n := 0; n < length; n += len(batch.Events) {
			if _, err := l.Append(t.Context(), id, fence, batch); err != nil {
				t.Fatal(err)
			}
		}
		best := time.Duration(1<<63 - 1)
		for range tries {
			start := time.Now()
			if got := countEvents(t, l, id); got != length {
				t.Fatalf("%d events, want %d", got, length)
			}
			best = min(best, time.Since(start))
		}
		if before > 0 && float64(best) > 2.6*float64(before) {
			t.Errorf("%d events took %v, half as many %v", length, best, before)
		}
		before = best
	}
}
