package door

import (
	"container/list"
	"time"
)

const (
	// A source may show so many wrong credentials within the window; then wrong
	// ones, and all passwords, are refused for a while. Programs with an old
	// token try again and again, so there is room for that.
	guessLimit  = 60
	guessWindow = 5 * time.Minute
	guessLock   = 5 * time.Minute

	codeLimit  = 5
	codeWindow = 10 * time.Minute
	codeLock   = 300 * time.Second

	// everyoneBurst and everyonePerMinute bound wrong codes from all sources
	// together: some can choose their address.
	everyoneBurst     = 30
	everyonePerMinute = 6

	// maxSources bounds what a guard remembers; of more, those that have failed
	// least lately are forgotten.
	maxSources = 4096
)

// guard counts failures per source and locks a source out that has too many.
type guard struct {
	limit        int
	window, lock time.Duration

	sources map[string]*list.Element // of *failures
	order   *list.List               // the latest first
}

type failures struct {
	source string
	count  int
	since  time.Time // of the first that counts
	until  time.Time // locked out
}

func newGuard(limit int, window, lock time.Duration) *guard {
	return &guard{limit: limit, window: window, lock: lock, sources: make(map[string]*list.Element), order: list.New()}
}

// locked returns how long a source is still locked out; 0 when it is not.
func (g *guard) locked(source string, now time.Time) time.Duration {
	e, ok := g.sources[source]
	if !ok {
		return 0
	}
	return max(0, e.Value.(*failures).until.Sub(now))
}

// fail counts a failure and reports whether the source is locked out from now
// on.
func (g *guard) fail(source string, now time.Time) bool {
	f := g.of(source)
	if now.Sub(f.since) >= g.window {
		f.count, f.since = 0, now
	}
	f.count++
	if f.count < g.limit {
		return false
	}
	f.count, f.until = 0, now.Add(g.lock)
	return true
}

// of finds what is known of a source, or begins it.
func (g *guard) of(source string) *failures {
	if e, ok := g.sources[source]; ok {
		g.order.MoveToFront(e)
		return e.Value.(*failures)
	}
	if len(g.sources) >= maxSources {
		oldest := g.order.Back()
		g.order.Remove(oldest)
		delete(g.sources, oldest.Value.(*failures).source)
	}
	f := &failures{source: source}
	g.sources[source] = g.order.PushFront(f)
	return f
}

// forgive forgets the failures of a source.
func (g *guard) forgive(source string) {
	if e, ok := g.sources[source]; ok {
		g.order.Remove(e)
		delete(g.sources, source)
	}
}
