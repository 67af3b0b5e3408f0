package sessiontest

import (
	"context"
	"errors"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Flaky is a ledger whose appends fail, or wait, while told to.
type Flaky struct {
	session.Ledger

	mu    sync.Mutex
	err   error
	spare int // appends that work all the same
	gate  chan struct{}
}

// NewFlaky wraps a ledger.
func NewFlaky(l session.Ledger) *Flaky { return &Flaky{Ledger: l} }

// ErrLost makes a Flaky write and yet report a failure, as a store does whose
// answer is lost.
var ErrLost = errors.New("disk I/O error after write")

// ErrDead makes a Flaky fail reads too.
var ErrDead = errors.New("the disk is gone")

// Fail makes appends fail; nil makes them work again.
func (f *Flaky) Fail(err error) { f.FailAfter(0, err) }

// FailAfter makes appends fail after n more that work.
func (f *Flaky) FailAfter(n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.spare = err, n
}

// Hold makes appends wait until release is called.
func (f *Flaky) Hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gate := make(chan struct{})
	f.gate = gate
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.gate = nil
		close(gate)
	}
}

func (f *Flaky) now() (gate chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gate, f.err
}

// spared is now for an append, which may be one that works all the same.
func (f *Flaky) spared() (gate chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spare > 0 {
		f.spare--
		return f.gate, nil
	}
	return f.gate, f.err
}

// Append implements session.Ledger.
func (f *Flaky) Append(ctx context.Context, id string, fence session.Fence, b session.Batch) (session.Seq, error) {
	gate, err := f.spared()
	if gate != nil {
		<-gate
	}
	switch {
	case errors.Is(err, ErrLost):
		_, _ = f.Ledger.Append(ctx, id, fence, b)
		return 0, err
	case err != nil:
		return 0, err
	}
	return f.Ledger.Append(ctx, id, fence, b)
}

// Read implements session.Ledger.
func (f *Flaky) Read(ctx context.Context, id string, after session.Seq, limit int) ([]session.Event, error) {
	if _, err := f.now(); errors.Is(err, ErrDead) {
		return nil, err
	}
	return f.Ledger.Read(ctx, id, after, limit)
}
