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

	mu   sync.Mutex
	err  error
	gate chan struct{}
}

// NewFlaky wraps a ledger.
func NewFlaky(l session.Ledger) *Flaky { return &Flaky{Ledger: l} }

// ErrLost makes a Flaky write and yet report a failure, as a store does whose
// answer is lost.
var ErrLost = errors.New("disk I/O error after write")

// ErrDead makes a Flaky fail reads too.
var ErrDead = errors.New("the disk is gone")

// Fail makes appends fail; nil makes them work again.
func (f *Flaky) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
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

// Append implements session.Ledger.
func (f *Flaky) Append(ctx context.Context, id string, fence session.Fence, b session.Batch) (session.Seq, error) {
	gate, err := f.now()
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
