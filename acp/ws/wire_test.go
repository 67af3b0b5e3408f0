package ws

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// manual is a socket whose reads and writes last as long as the test wants.
type manual struct{ read, write time.Duration }

func (m *manual) Read(p []byte) (int, error) {
	time.Sleep(m.read)
	return len(p), nil
}

func (m *manual) Write(p []byte) (int, error) {
	time.Sleep(m.write)
	return len(p), nil
}

func (*manual) Close() error { return nil }

// TestSilence says what shows that a peer is there.
func TestSilence(t *testing.T) {
	const long = time.Minute
	tests := []struct {
		name   string
		during func(w *wire, m *manual) // from the ping to the judgement a minute later
		silent bool
	}{
		{"nobody reads", func(*wire, *manual) {}, false},
		{"a read waits", func(w *wire, m *manual) {
			m.read = 2 * long
			go w.Read(make([]byte, 1))
		}, true},
		{"a read waits after one that got something", func(w *wire, m *manual) {
			m.read = long / 2
			go func() { io.ReadFull(w, make([]byte, 1)); m.read = 2 * long; w.Read(make([]byte, 1)) }()
		}, false},
		{"a write that did not wait", func(w *wire, m *manual) {
			m.read = 2 * long
			go w.Read(make([]byte, 1))
			go func() { time.Sleep(long / 2); _ = w.put(make([]byte, 10)) }()
		}, true},
		{"a write that waited and was taken", func(w *wire, m *manual) {
			m.read, m.write = 2*long, long/2
			go w.Read(make([]byte, 1))
			go w.put(make([]byte, 10))
		}, false},
		{"a write that waits", func(w *wire, m *manual) {
			m.read, m.write = 2*long, 2*long
			go w.Read(make([]byte, 1))
			go w.put(make([]byte, 10))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &manual{}
				w := &wire{rw: m, writing: make(chan struct{}, 1), stall: -1}
				tt.during(w, m)
				synctest.Wait()
				asked := time.Now()
				time.Sleep(long)
				if got := w.silentSince(asked); got != tt.silent {
					t.Errorf("silent is %v, want %v", got, tt.silent)
				}
				time.Sleep(10 * long) // the time of the bubble: what waits comes to its end
			})
		})
	}
}

// TestStallTimer shows that each chunk has the stall time anew.
func TestStallTimer(t *testing.T) {
	for _, tt := range []struct {
		each    time.Duration
		stalled bool
	}{{50 * time.Second, false}, {70 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			var stalled atomic.Bool
			w := &wire{rw: &manual{write: tt.each}, stall: time.Minute, stalled: func() { stalled.Store(true) }}
			if err := w.put(make([]byte, 10*chunkBytes)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if stalled.Load() != tt.stalled {
				t.Errorf("with %v for each chunk, stalled is %v", tt.each, !tt.stalled)
			}
		})
	}
}
