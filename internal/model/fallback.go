package model

import (
	"context"
	"errors"
)

// WithFallback returns a provider that asks the others in turn when first cannot
// answer and has said nothing yet. Name and Info are those of first. The
// caller is told of each change by a Retrying event that names the provider.
// When all fail, the error is that of first.
func WithFallback(first Provider, others ...Provider) Provider {
	if len(others) == 0 {
		return first
	}
	return &fallback{Provider: first, others: others}
}

type fallback struct {
	Provider
	others []Provider
}

// Stream implements Provider.
func (f *fallback) Stream(ctx context.Context, req *Request, emit func(Event) error) (*Response, error) {
	told := false
	watched := func(ev Event) error {
		told = told || ev.Kind != Retrying
		return emit(ev)
	}
	resp, first := f.Provider.Stream(ctx, req, watched)
	err := first
	// The name of a model means nothing to another provider.
	other := *req
	other.Model = ""
	for _, p := range f.others {
		if err == nil || told || !elsewhere(err) {
			break
		}
		ev := Event{Kind: Retrying, Retry: &Retry{Attempt: 1, Max: 1, Reason: err.Error(), Provider: p.Name()}}
		if err := emit(ev); err != nil {
			return nil, err
		}
		resp, err = p.Stream(ctx, &other, watched)
	}
	if err != nil && !told && ctx.Err() == nil {
		return resp, first
	}
	return resp, err
}

// elsewhere reports whether another provider may do what this one could not.
func elsewhere(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind != ErrBadRequest && e.Kind != ErrContextLength && e.Kind != ErrCanceled
}
