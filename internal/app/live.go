package app

import (
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// live is the configuration as the file has it now. A file that no longer
// parses leaves what was read before in force, if anything was.
type live struct {
	home    config.Home
	environ []string
	// broken is told, once each time, that a file that was in force no longer
	// can be. It must not ask for the configuration.
	broken func(error)

	mu   sync.Mutex
	conf *config.Config // last good one
	err  error          // why the file is not in force
	seen stamp
}

// stamp tells one state of a file from another.
type stamp struct {
	size int64
	time time.Time
}

func newLive(home config.Home, environ []string) *live {
	l := &live{home: home, environ: environ}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read(fileStamp(home.File()))
	return l
}

func fileStamp(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

func (l *live) read(s stamp) {
	l.seen = s
	c, err := config.Load(l.home, l.environ)
	l.err = err
	switch {
	case err == nil:
		l.conf = c
	case l.conf != nil && l.broken != nil:
		l.broken(err)
	}
}

// get returns the configuration in force, reading the file again when it has
// changed. It fails while there has never been a good one.
func (l *live) get() (*config.Config, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := fileStamp(l.home.File()); s != l.seen {
		l.read(s)
	}
	if l.conf == nil {
		return nil, l.err
	}
	return l.conf, nil
}

// problem returns why the file as it is now is not in force, or nil.
func (l *live) problem() error {
	_, _ = l.get() // reads a changed file
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// orDefault is get with the defaults where there is no good configuration.
func (l *live) orDefault() *config.Config {
	if c, err := l.get(); err == nil {
		return c
	}
	return config.Default()
}

// environmentError returns a problem with an override variable. Such a process
// cannot recover: its environment never changes.
func (l *live) environmentError() error {
	var e *config.Error
	if !errors.As(l.problem(), &e) {
		return nil
	}
	for _, p := range e.Problems {
		if p.File == "" {
			return e
		}
	}
	return nil
}

// getenv looks a variable up in the process's environment.
func (l *live) getenv(name string) string {
	for _, entry := range l.environ {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value
		}
	}
	return ""
}
