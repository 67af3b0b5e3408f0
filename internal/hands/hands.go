// Package hands serves an agent the files and terminals of this machine, as the
// client methods fs/* and terminal/* of ACP: files within one directory, and
// commands that end when they are released or the Hands are closed.
package hands

import (
	"context"
	"fmt"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// maxTerminals is how many terminals an agent may hold at once.
const maxTerminals = 64

// Options say what is served.
type Options struct {
	Cwd       string   // absolute; nothing outside of it is read or written
	Forbidden []string // places in it that are refused, see fsroot
	Own       []string // files of Grapnel itself, refused
	Environ   []string // what commands get, before the request's own
}

// Hands are safe for concurrent use.
type Hands struct {
	root    *fsroot.Set
	environ []string
	ctx     context.Context // ends every command
	end     context.CancelFunc

	mu        sync.Mutex
	terminals map[string]*terminal
	serial    int
	closed    bool
	running   sync.WaitGroup
}

// Open returns the hands of one session.
func Open(o Options) (*Hands, error) {
	root, err := fsroot.Open(
		[]fsroot.Root{{Path: o.Cwd, Name: fsroot.NameCwd, Writable: true}},
		fsroot.Options{Forbidden: o.Forbidden, Own: o.Own},
	)
	if err != nil {
		return nil, fmt.Errorf("use the directory %s: %w", o.Cwd, err)
	}
	ctx, end := context.WithCancel(context.Background())
	return &Hands{root: root, environ: o.Environ, ctx: ctx, end: end, terminals: map[string]*terminal{}}, nil
}

// Root returns the directory that is served. It is closed with the Hands.
func (h *Hands) Root() *fsroot.Set { return h.root }

// Close ends all commands with what they started, and waits for that.
func (h *Hands) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.running.Wait()
	return h.root.Close()
}
