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

// TestE4_LoadIsLinear pages through a session and one twice as long, both larger
// than SQLite's cache.
func TestE4_LoadIsLinear(t *testing.T) {
	l := openIn(t, t.TempDir())
	lengths := map[string]int{"s_short": 20_000, "s_long": 40_000}
	batch := session.Batch{Events: samples(100)}
	for id, length := range lengths {
		fence, err := l.Create(t.Context(), session.Info{ID: id, Owner: "local"})
		for n := 0; err == nil && n < length; n += len(batch.Events) {
			_, err = l.Append(t.Context(), id, fence, batch)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	load := func(id string) float64 {
		start := time.Now()
		if got := countEvents(t, l, id); got != lengths[id] {
			t.Fatalf("%d events, want %d", got, lengths[id])
		}
		return float64(time.Since(start))
	}
	var ratio float64
	for range 2 * tries {
		if ratio = load("s_long") / load("s_short"); ratio <= 2.6 {
			return
		}
	}
	t.Errorf("twice the events took %.1f times as long", ratio)
}
