// Package actor owns one active session: one goroutine holds its State, and
// everybody else sends it messages. What the driver says is committed in
// batches and shown only then; a turn ends exactly once.
package actor

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/attach"
	"github.com/grapnel-ai/grapnel/internal/session/fold"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// Concurrent says what happens to a prompt that comes while a turn runs.
type Concurrent string

// The policies of [acp].concurrent_prompt.
const (
	Queue  Concurrent = "queue"
	Reject Concurrent = "reject"
	Steer  Concurrent = "steer" // queue where the driver cannot
)

// Limits bound what a session does. Zero durations mean no limit, except
// Settle, which has a default.
type Limits struct {
	Concurrent Concurrent    // default Queue
	Queue      int           // prompts that may wait; default 64
	Settle     time.Duration // how long a cancelled driver may take; default 1.5 s
	Idle       time.Duration // after which an idle session asks to be parked
	Ask        time.Duration // how long a request to people waits
	AskGrace   time.Duration // how long it waits while nobody attached can answer; 0 denies at once
	TurnGrace  time.Duration // how long a turn runs on with nobody attached
}

const (
	// defaultSettle lets a driver write what it has and still answers a cancel
	// within the two seconds people wait before they press it again.
	defaultSettle = 1500 * time.Millisecond
	defaultQueue  = 64
	// closeBound is how long a driver's Close may hold up the session's end; a
	// harness's stop ladder fits into it.
	closeBound = 10 * time.Second
	// steerBound is how long a driver may think about content given to it while
	// everything else it says waits.
	steerBound = 5 * time.Second
)

func (l Limits) withDefaults() Limits {
	if l.Concurrent == "" {
		l.Concurrent = Queue
	}
	if l.Queue <= 0 {
		l.Queue = defaultQueue
	}
	if l.Settle <= 0 {
		l.Settle = defaultSettle
	}
	return l
}

// Config is what an actor is started with. All fields but the functions and
// Servers are required.
type Config struct {
	Info     session.Info
	Fence    session.Fence
	Ledger   session.Ledger
	Driver   session.Driver
	Board    *attach.Board
	State    *state.State // as restored; the actor owns it from then on
	Restored bool         // the session has a past
	Servers  []jsontext.Value
	Away     bool // as session.OpenRequest.Away
	Limits   Limits
	Now      func() time.Time
	Log      *slog.Logger
	// OnIdle is called, on a goroutine of its own, when the session has been
	// idle for Limits.Idle.
	OnIdle func()
	// OnLost is called, on a goroutine of its own, when the session was taken
	// over by another instance or deleted; the actor has ended.
	OnLost func(*Actor, error)
}

// Actor runs one active session. Its methods may be called from any goroutine.
type Actor struct {
	cfg    Config
	limits Limits
	mail   *mailbox
	done   chan struct{} // closed when the goroutine has ended

	current atomic.Pointer[opened] // for Setup

	closers sync.WaitGroup // handles being opened or closed

	// Everything below belongs to the goroutine.
	seen    *state.State // after the last committed event
	next    *state.State // after the last staged one
	batch   batch
	spare   batch
	stale   bool   // an append failed: what the ledger holds must be looked at
	told    string // the turn whose end was told because it could not be committed
	repairs *timer // tries again while the store is failing
	info    session.Info
	ids     session.IDs
	held    *session.InfoChange // waits for the driver's next event

	turn     *turn                        // the one that runs, in memory
	prompts  map[string]*turn             // queued ones by turn id
	steered  map[string]*session.Prompted // prompts that joined a turn, by key
	steering *turn                        // what it adds is with the driver, whose other words wait
	waiting  []func()

	driver driver
	calls  calls
	desk   ask.Desk
	fold   fold.Fold

	timers  map[*timer]struct{} // that have not run
	idle    *time.Timer
	unseen  *timer // cancels the turn when nobody comes back
	closing *closing
	ended   bool
	sets    int // config changes under way
	asides  int // commands that run beside a turn
}

// Start makes the actor of a session and brings what an earlier process left
// open to its end: that is committed when Start returns.
func Start(ctx context.Context, cfg Config) (*Actor, error) {
	a := &Actor{
		cfg: cfg, limits: cfg.Limits.withDefaults(), mail: newMailbox(), done: make(chan struct{}),
		seen: cfg.State, next: cfg.State.Clone(), info: cfg.Info,
		prompts: make(map[string]*turn), steered: make(map[string]*session.Prompted),
		timers: make(map[*timer]struct{}), calls: newCalls(), ids: session.IDs{Prefix: "e"},
	}
	a.driver.epoch = cfg.State.Epoch
	if err := a.recover(ctx); err != nil {
		return nil, err
	}
	go a.run()
	return a, nil
}

func (a *Actor) now() time.Time { return a.cfg.Now() }

func (a *Actor) run() {
	defer close(a.done)
	var control []func()
	var said []item
	a.watchIdle()
	for !a.ended {
		<-a.mail.ready
		control, said = a.mail.take(control, said, a.steering != nil)
		a.resync()
		for _, f := range control {
			f()
		}
		for i := range said {
			a.hear(&said[i])
		}
		a.commit()
		a.endWhenIdle()
		idle := !a.busyNow()
		control, said = recycle(control, idle), recycle(said, idle)
		a.watchIdle()
	}
	a.leave()
}

// keepItems is how many items' room an idle session keeps: a burst must not cost
// it its memory for ever.
const keepItems = 64

// recycle empties a slice for its next use.
func recycle[T any](s []T, idle bool) []T {
	if idle && cap(s) > keepItems {
		return nil
	}
	clear(s)
	return s[:0]
}

// leave answers what came too late.
func (a *Actor) leave() {
	if a.idle != nil {
		a.idle.Stop()
	}
	for t := range a.timers {
		t.stop()
	}
	for _, f := range a.mail.close() {
		f()
	}
	a.commit()
}

// Done is closed when the actor has ended.
func (a *Actor) Done() <-chan struct{} { return a.done }

// call runs f on the actor's goroutine and waits for its reply. ErrNotActive
// when the actor has ended.
func call[T any](ctx context.Context, a *Actor, f func(reply func(T, error))) (T, error) {
	type result struct {
		v   T
		err error
	}
	answered := make(chan result, 1)
	reply := func(v T, err error) { answered <- result{v, err} }
	var none T
	if !a.mail.post(func() { f(reply) }) {
		return none, session.ErrNotActive
	}
	select {
	case r := <-answered:
		return r.v, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-a.done:
	}
	select {
	case r := <-answered:
		return r.v, r.err
	default:
		return none, session.ErrNotActive
	}
}

// timer posts work to the actor after a time. It belongs to the actor's
// goroutine; a nil timer is stopped.
type timer struct {
	actor *Actor
	t     *time.Timer
}

// after runs f in a while. What is left of an actor's timers ends with it: they
// would keep its memory.
func (a *Actor) after(d time.Duration, f func()) *timer {
	t := &timer{actor: a}
	a.timers[t] = struct{}{}
	t.t = time.AfterFunc(d, func() {
		a.mail.post(func() {
			if _, live := a.timers[t]; live {
				delete(a.timers, t)
				f()
			}
		})
	})
	return t
}

// stop keeps f from running, also when its time has come already.
func (t *timer) stop() {
	if t != nil {
		delete(t.actor.timers, t)
		t.t.Stop()
	}
}
