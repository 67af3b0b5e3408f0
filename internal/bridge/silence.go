package bridge

import (
	"sync"
	"sync/atomic"
	"time"
)

// guard ends a link on which nothing comes for a time.
type guard struct {
	ended chan struct{}
	task  sync.WaitGroup
	fired atomic.Bool
}

// guard watches the link until stop.
func (l *link) guard(silence time.Duration) *guard {
	g := &guard{ended: make(chan struct{})}
	l.heard()
	g.task.Go(func() { g.watch(l, silence) })
	return g
}

func (g *guard) watch(l *link, silence time.Duration) {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		select {
		case <-g.ended:
			return
		case <-timer.C:
		}
		left := silence - l.quiet()
		if left <= 0 {
			g.fired.Store(true)
			_ = l.conn.Close() // whoever waits for an answer hears of it
			return
		}
		timer.Reset(left)
	}
}

// stop ends the watch.
func (g *guard) stop() {
	close(g.ended)
	g.task.Wait()
}

// struck reports whether the link was ended.
func (g *guard) struck() bool { return g.fired.Load() }

// heard notes that something came.
func (l *link) heard() { l.last.Store(int64(time.Since(l.made))) }

// quiet is how long ago something came.
func (l *link) quiet() time.Duration { return time.Since(l.made) - time.Duration(l.last.Load()) }
