package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and how fast a failed step is tried again. The
// zero value means the defaults.
type RetryPolicy struct {
	// Attempts in all; 0 means 4. With the default delays a step that fails
	// for good does so within about five seconds.
	Attempts int
	// Base is the first delay, doubled each time; 0 means 500 ms. Up to half
	// of a delay is added at random, so that many sessions do not come back
	// at once.
	Base time.Duration
	// Max bounds a delay of our own; 0 means 8 s.
	Max time.Duration
	// MaxRetryAfter bounds the wait a provider may ask for; 0 means 60 s. When
	// it asks for more, the step fails at once and says when to come back.
	MaxRetryAfter time.Duration
	// Sleep waits; nil means on the real clock.
	Sleep func(context.Context, time.Duration) error
	// Random returns a number in [0,1); nil means a real random one.
	Random func() float64
}

// WithRetry returns a provider that tries the failed steps of p again, as long as
// the caller has not been told anything of the answer yet.
func WithRetry(p Provider, policy RetryPolicy) Provider {
	return &retrying{Provider: p, policy: policy.withDefaults()}
}

func (rp RetryPolicy) withDefaults() RetryPolicy {
	orElse := func(d *time.Duration, usual time.Duration) {
		if *d <= 0 {
			*d = usual
		}
	}
	if rp.Attempts <= 0 {
		rp.Attempts = 4
	}
	orElse(&rp.Base, 500*time.Millisecond)
	orElse(&rp.Max, 8*time.Second)
	orElse(&rp.MaxRetryAfter, time.Minute)
	if rp.Sleep == nil {
		rp.Sleep = sleep
	}
	if rp.Random == nil {
		rp.Random = rand.Float64
	}
	return rp
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type retrying struct {
	Provider
	policy RetryPolicy
}

// Stream implements Provider.
func (r *retrying) Stream(ctx context.Context, req *Request, emit func(Event) error) (*Response, error) {
	for attempt := 1; ; attempt++ {
		told := false
		resp, err := r.Provider.Stream(ctx, req, func(ev Event) error {
			told = told || ev.Kind != Retrying
			return emit(ev)
		})
		if err == nil || told || attempt >= r.policy.Attempts {
			return resp, err
		}
		failure, ok := errors.AsType[*Error](err)
		if !ok || !failure.Retryable() || failure.RetryAfter > r.policy.MaxRetryAfter {
			return resp, err
		}
		delay := r.policy.delay(attempt, failure.RetryAfter)
		ev := Event{Kind: Retrying, Retry: &Retry{Attempt: attempt + 1, Max: r.policy.Attempts, Delay: delay, Reason: failure.Error()}}
		if err := emit(ev); err != nil {
			return resp, err
		}
		if err := r.policy.Sleep(ctx, delay); err != nil {
			return resp, err
		}
	}
}

// delay is the wait after a failed attempt, never shorter than asked.
func (rp RetryPolicy) delay(attempt int, asked time.Duration) time.Duration {
	d := rp.Max
	if shift := attempt - 1; shift < 16 {
		d = min(rp.Base<<shift, rp.Max)
	}
	d += time.Duration(float64(d) / 2 * rp.Random())
	return max(d, asked)
}
