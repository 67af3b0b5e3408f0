package door

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Why a connection that was let in has to end.
var (
	ErrRevoked = errors.New("the credential of this connection was taken back")
	ErrExpired = errors.New("the credential of this connection has expired")
)

// visit is a connection that lasts.
type visit struct {
	id  string // of its credential
	end context.CancelCauseFunc
}

// account is what an owner uses at the moment.
type account struct {
	connections int
	rate        *bucket
}

// maxAccounts bounds how many owners are remembered that use nothing. Owners
// come with credentials, so strangers cannot make any.
const maxAccounts = 1024

// Enter counts a connection that lasts as one of its owner's. The context it
// returns ends when the credential is taken back or expires, with ErrRevoked or
// ErrExpired as its cause; leave gives the connection back and may be called
// more than once. The error is a *Refusal: the owner has too many, or the
// credential was taken back since Admit.
func (d *Door) Enter(ctx context.Context, p Pass) (inside context.Context, leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.good(p) {
		return nil, nil, unauthorized()
	}
	a := d.account(p.Owner)
	if limit := d.settings.Limits.Connections; limit > 0 && a.connections >= limit {
		return nil, nil, &Refusal{
			Status:  http.StatusTooManyRequests,
			Message: fmt.Sprintf("%s has %d connections open, which is the limit; close one", p.Owner, limit),
		}
	}
	a.connections++
	inside, end := context.WithCancelCause(ctx)
	v := &visit{p.id, end}
	d.visits[v] = struct{}{}
	expiry := d.expireLater(p, end)
	return inside, func() { d.leave(v, p.Owner, expiry) }, nil
}

// good reports whether a credential is still one. d.mu is held.
func (d *Door) good(p Pass) bool {
	for _, e := range d.known {
		if e.pass.id == p.id {
			return !ended(e.pass.Expires, d.opts.Now())
		}
	}
	return false
}

// expireLater ends a visit when its credential does; nil when that is never.
func (d *Door) expireLater(p Pass, end context.CancelCauseFunc) *time.Timer {
	if p.Expires.IsZero() {
		return nil
	}
	return time.AfterFunc(p.Expires.Sub(d.opts.Now()), func() { end(ErrExpired) })
}

func (d *Door) leave(v *visit, owner string, expiry *time.Timer) {
	d.mu.Lock()
	_, inside := d.visits[v]
	if inside {
		delete(d.visits, v)
		d.account(owner).connections--
	}
	d.mu.Unlock()
	if !inside {
		return
	}
	if expiry != nil {
		expiry.Stop()
	}
	v.end(context.Canceled)
}

// account finds or opens the account of an owner. d.mu is held.
func (d *Door) account(owner string) *account {
	if a, ok := d.accounts[owner]; ok {
		return a
	}
	if len(d.accounts) >= maxAccounts {
		d.closeIdle()
	}
	a := &account{}
	d.accounts[owner] = a
	return a
}

func (d *Door) closeIdle() {
	now := d.opts.Now()
	for owner, a := range d.accounts {
		if a.connections == 0 && (a.rate == nil || a.rate.full(now)) {
			delete(d.accounts, owner)
		}
	}
}

// Count counts a message against its owner's rate, over all its connections. It
// returns how long the owner should wait before the next, 0 while it is within
// the rate.
func (d *Door) Count(owner string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	perMinute := d.settings.Limits.PerMinute
	if perMinute <= 0 {
		return 0
	}
	now := d.opts.Now()
	a := d.account(owner)
	if a.rate == nil || a.rate.perMinute != float64(perMinute) {
		a.rate = newBucket(perMinute, perMinute, now)
	}
	wait := a.rate.wait(now)
	a.rate.take(now)
	return wait
}
