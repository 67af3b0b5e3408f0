package allowance_test

import (
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/mcp/allowance"
)

func TestTake(t *testing.T) {
	a := allowance.Allowance{Burst: 10, Rate: 5}
	now := time.Unix(1000, 0)
	for i, step := range []struct {
		after time.Duration
		n     int
		wait  time.Duration
	}{
		{0, 10, 0},
		{0, 5, time.Second},
		{time.Second, 5, time.Second}, // what was waited for is free again
		{10 * time.Second, 10, 0},
		{0, 1, 200 * time.Millisecond},
	} {
		now = now.Add(step.after)
		if wait := a.Take(step.n, now); wait != step.wait {
			t.Errorf("step %d waits %s, not %s", i, wait, step.wait)
		}
	}
}
