package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Options are what a Ladder knows of the machine and of us.
type Options struct {
	Home string // the user's home directory; "" is unknown
	Path string // PATH, where programs and bubblewrap are found
	// Temp is where this process keeps the temporary files of its sessions; ""
	// means the system's place for them.
	Temp string
	// Bubblewrap is the program to use; "" means the first bwrap of the system
	// or of Path.
	Bubblewrap string
	// MaxABI lowers the version of Landlock that is used; 0 means what the
	// kernel has.
	MaxABI int
	// ProbeTime bounds the trial of one rung; 0 means three seconds.
	ProbeTime time.Duration
}

// Ladder finds out which rungs work. It is safe for concurrent use.
type Ladder struct {
	opts Options

	mirror mirror

	mu    sync.Mutex
	tried map[Rung]*trial
}

// trial is an attempt in the making.
type trial struct {
	done    chan struct{}
	attempt attempt // valid once done is closed
}

// attempt is how the trial of a rung went.
type attempt struct {
	abi   int
	bwrap bwrap
	err   error
	fix   string
}

// New returns a ladder on which nothing has been tried.
func New(o Options) *Ladder {
	if o.ProbeTime == 0 {
		o.ProbeTime = 3 * time.Second
	}
	return &Ladder{opts: o, tried: make(map[Rung]*trial)}
}

// rungs are those of a system, the strongest first.
func rungs(goos string) []Rung {
	switch goos {
	case "linux":
		return []Rung{Bubblewrap, Landlock}
	case "darwin":
		return []Rung{Seatbelt}
	}
	return nil
}

// Find returns the rung for a configured value, trying what has not been tried.
// Each rung is tried once in the life of the ladder. The error is only of ctx:
// a trial goes on when nobody waits for it any more.
func (l *Ladder) Find(ctx context.Context, use Rung) (Status, error) {
	if use == None {
		return Status{Rung: None, Chosen: true}, nil
	}
	st := Status{Rung: None}
	for _, r := range rungs(runtime.GOOS) {
		if use != Auto && use != "" && use != r {
			continue
		}
		a, err := l.try(ctx, r)
		if err != nil {
			return st, err
		}
		if a.err == nil {
			st.Rung, st.ABI = r, a.abi
			return st, nil
		}
		st.Failed = append(st.Failed, Failure{Rung: r, Err: a.err, Fix: a.fix})
	}
	if len(st.Failed) == 0 && use != Auto && use != "" {
		st.Failed = []Failure{{Rung: use, Err: fmt.Errorf("not on %s", runtime.GOOS), Fix: `set autonomy.sandbox to "auto"`}}
	}
	return st, nil
}

// try returns the outcome of a rung's trial, once there is one.
func (l *Ladder) try(ctx context.Context, r Rung) (attempt, error) {
	l.mu.Lock()
	t, ok := l.tried[r]
	if !ok {
		t = &trial{done: make(chan struct{})}
		l.tried[r] = t
		go func() {
			t.attempt = l.probe(context.WithoutCancel(ctx), r)
			close(t.done)
		}()
	}
	l.mu.Unlock()
	select {
	case <-t.done:
		return t.attempt, nil
	case <-ctx.Done():
		return attempt{}, context.Cause(ctx)
	}
}

func (l *Ladder) probe(ctx context.Context, r Rung) attempt {
	switch r {
	case Bubblewrap:
		return l.probeBubblewrap(ctx)
	case Landlock:
		return l.probeLandlock(ctx)
	case Seatbelt:
		return l.probeSeatbelt(ctx)
	}
	return attempt{err: fmt.Errorf("there is no rung %q", r)}
}
