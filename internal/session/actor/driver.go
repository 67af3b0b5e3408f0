package actor

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
)

// driver is the present epoch.
type driver struct {
	epoch   uint64
	sink    *sink // nil between epochs
	handle  session.Handle
	opening bool
	giveUp  context.CancelFunc // ends an Open under way
	waiting []func(session.Handle, error)
}

// opened is what other goroutines may see of the driver.
type opened struct{ handle session.Handle }

// Ready opens the driver unless it is open, and waits for it.
func (a *Actor) Ready(ctx context.Context) error {
	_, err := call(ctx, a, func(reply func(struct{}, error)) {
		a.withHandle(func(_ session.Handle, err error) { reply(struct{}{}, err) })
	})
	return err
}

// Setup is what the agent offers now.
func (a *Actor) Setup() session.Setup {
	if o := a.current.Load(); o != nil {
		return o.handle.Setup()
	}
	return a.cfg.Board.Setup()
}

// withHandle calls f with the open driver, opening one if need be.
func (a *Actor) withHandle(f func(session.Handle, error)) {
	if a.ended {
		f(nil, session.ErrNotActive)
		return
	}
	if a.driver.handle != nil {
		f(a.driver.handle, nil)
		return
	}
	a.driver.waiting = append(a.driver.waiting, f)
	if !a.driver.opening {
		a.openDriver()
	}
}

// openDriver starts an epoch. Its number is committed first, so that no two
// openings share one.
func (a *Actor) openDriver() {
	a.driver.opening = true
	a.driver.epoch = a.next.Epoch + 1
	restored := a.cfg.Restored || a.next.Epoch > 0
	e := a.own(session.KindEpoch, session.Private, "", jsontext.Value(`{}`))
	a.stage(e)
	s := &sink{actor: a, epoch: a.driver.epoch, over: make(chan struct{})}
	a.driver.sink = s
	ctx, cancel := context.WithCancel(context.Background())
	a.driver.giveUp = cancel
	req := session.OpenRequest{
		Info: a.info, Epoch: s.epoch, Restored: restored, Config: maps.Clone(a.next.Config),
		History: a.history, Servers: a.cfg.Servers, Away: a.cfg.Away, Sink: s,
	}
	a.then(func(err error) {
		if err != nil {
			a.openedDriver(s, nil, session.Setup{}, err)
			return
		}
		a.closers.Add(1)
		go func() {
			defer a.closers.Done()
			h, err := openSafely(ctx, a.cfg.Driver, req)
			var setup session.Setup
			if err == nil {
				setup = h.Setup() // here, not on the actor's goroutine: it is the driver's code
			}
			if !a.mail.post(func() { a.openedDriver(s, h, setup, err) }) && h != nil {
				a.closeNow(h)
			}
		}()
	})
}

func openSafely(ctx context.Context, d session.Driver, req session.OpenRequest) (h session.Handle, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("open agent: panic: %v", r)
		}
	}()
	return d.Open(ctx, req)
}

// history yields the driver's own events, for a driver that is opened.
func (a *Actor) history(ctx context.Context, yield func(session.Event) error) error {
	return each(ctx, a.cfg.Ledger, a.cfg.Info.ID, 0, func(e session.Event) error {
		if e.Kind != session.KindDriverPrivate {
			return nil
		}
		return yield(e)
	})
}

func (a *Actor) openedDriver(s *sink, h session.Handle, setup session.Setup, err error) {
	if a.driver.sink != s { // given up meanwhile
		if h != nil {
			a.closeHandle(h)
		}
		return
	}
	a.driver.opening = false
	a.driver.giveUp()
	if err == nil {
		a.driver.handle = h
		a.current.Store(&opened{h})
		a.cfg.Board.SetSetup(setup)
		a.watchDeath(s, h)
	} else {
		s.end()
		a.driver.sink = nil
	}
	waiting := a.driver.waiting
	a.driver.waiting = nil
	for _, f := range waiting {
		f(h, err)
	}
}

// watchDeath notices an agent that ends by itself.
func (a *Actor) watchDeath(s *sink, h session.Handle) {
	m, ok := h.(session.Mortal)
	if !ok {
		return
	}
	go func() {
		select {
		case <-m.Done():
			a.mail.post(func() { a.died(s, m.Err()) })
		case <-s.over:
		}
	}()
}

func (a *Actor) died(s *sink, err error) {
	if a.driver.sink != s {
		return
	}
	if err == nil {
		err = session.ErrDriverDied
	}
	t := a.turn
	if t == nil || !t.driving {
		a.abandon()
		return
	}
	// What it said before it died is shown before the turn's end; its Prompt
	// may still return, with more to say.
	a.after(a.limits.Settle, func() {
		if a.driver.sink != s {
			return
		}
		a.endTurn(t, failed(t.id, err))
		a.abandon()
	})
}

// abandon ends the epoch: what its driver says from now on is dropped.
func (a *Actor) abandon() {
	d := &a.driver
	if d.sink == nil {
		return
	}
	d.sink.end()
	d.giveUp()
	waiting := d.waiting
	*d = driver{epoch: d.epoch, handle: d.handle}
	if d.handle != nil {
		a.closeHandle(d.handle)
		d.handle = nil
	}
	a.current.Store(nil)
	a.calls.reset()
	a.steering = nil
	for _, q := range a.desk.All() {
		a.withdraw(q.ID, ask.DriverGone)
	}
	for _, f := range waiting {
		f(nil, session.ErrEpochOver)
	}
}

// closeHandle closes a driver beside the actor: it may take its time.
func (a *Actor) closeHandle(h session.Handle) {
	a.closers.Add(1)
	go func() {
		defer a.closers.Done()
		a.closeNow(h)
	}()
}

func (a *Actor) closeNow(h session.Handle) {
	ctx, cancel := context.WithTimeout(context.Background(), closeBound)
	defer cancel()
	if err := h.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		a.cfg.Log.Warn("closing agent failed", "session", a.cfg.Info.ID, "err", err)
	}
}

// hasDied reports whether the agent behind a handle has ended by itself.
func hasDied(h session.Handle) bool {
	m, ok := h.(session.Mortal)
	if !ok {
		return false
	}
	select {
	case <-m.Done():
		return true
	default:
		return false
	}
}
