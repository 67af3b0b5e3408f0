package tool

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a Sink that keeps everything.
type recorder struct {
	mu    sync.Mutex
	shown [][]Content
}

func (r *recorder) Progress(c []Content) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = append(r.shown, c)
}

func (r *recorder) bytes() (sum int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.shown {
		sum += len(c[0].Text)
	}
	return sum
}

// However output comes, updates and final content together stay within five
// times the final content (E2), and nothing waits for ever.
func TestLiveStaysWithinBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		piece  string
		pieces int
		pause  time.Duration
		least  int // updates
	}{
		"one burst":         {strings.Repeat("x", 1<<20), 1, 0, 1},
		"chatty":            {strings.Repeat("progress ", 100) + "\n", 1000, 10 * time.Millisecond, 20},
		"slow lines":        {"one line of output\n", 300, time.Second, 20},
		"drops":             {"x", 5000, 100 * time.Millisecond, 3},
		"more than is kept": {strings.Repeat("y", 10<<10), 1000, 300 * time.Millisecond, 50},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &recorder{}
				l := newLive(out, 512<<10)
				for range tc.pieces {
					_, _ = l.Write([]byte(tc.piece))
					time.Sleep(tc.pause)
				}
				text, _, total := l.finish(1000)
				if total != int64(len(tc.piece)*tc.pieces) {
					t.Errorf("total = %d", total)
				}
				if sum := out.bytes() + len(fenced(text)); sum > 5*len(fenced(text)) {
					t.Errorf("%d bytes on the wire for %d", sum, len(text))
				}
				if len(out.shown) < tc.least {
					t.Errorf("%d updates, want at least %d", len(out.shown), tc.least)
				}
			})
		})
	}
}

func TestLiveShowsWhatCameLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &recorder{}
		l := newLive(out, 1<<10)
		for i := range 3 {
			_, _ = fmt.Fprintf(l, "line %d of a few\n", i)
		}
		time.Sleep(liveInterval)
		synctest.Wait()
		if n := len(out.shown); n != 2 || !strings.Contains(out.shown[1][0].Text, "line 2") {
			t.Errorf("shown: %+v", out.shown)
		}
		l.finish(1000)
		_, _ = l.Write([]byte("late"))
		time.Sleep(time.Minute)
		if len(out.shown) != 2 {
			t.Errorf("shown after the end: %+v", out.shown[2:])
		}
	})
}
