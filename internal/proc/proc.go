// Package proc starts child processes and keeps custody of them: whatever a
// child starts ends with it, on cancel, on close and when we die ourselves.
//
// On Linux every descendant is held, also one that left its session, by the
// subreaper of package shim. On other Unix systems the child's process group
// is held, on Windows a job object.
package proc

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// The steps of a graceful end, for programs that serve a protocol on their
// standard input and output: end of input, then SIGTERM, then SIGKILL. A shell
// call gets none of this patience.
const (
	// EOFGrace is how long a program may take to end after its input has ended.
	EOFGrace = 5 * time.Second
	// TermGrace is how long it may take after SIGTERM.
	TermGrace = 2 * time.Second
)

// drainDelay is how long output may keep coming after the tree is gone. Only a
// process that got away can still hold the pipes then.
const drainDelay = 2 * time.Second

// Spec says what to start and how.
type Spec struct {
	// Argv is the program and its arguments. A name without a separator is
	// looked up in the PATH of Env; a relative path starts at Dir.
	Argv []string
	// Dir is the working directory; empty means our own.
	Dir string
	// Env is the whole environment as KEY=value. Nil means Environ of our own,
	// so that a forgotten field leaks nothing.
	Env []string
	// Stdin, Stdout and Stderr connect the child; nil means the null device. An
	// *os.File is handed over as it is; a Writer is written to by one goroutine
	// at a time, also when it serves both outputs. A Stdin that is no file should
	// end by itself, or Wait is late by two seconds.
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Files are what the child gets besides, as descriptors 3, 4 and on. Start
	// closes ours, also when it fails. There are none on Windows.
	Files []*os.File
	// StdinPipe connects the child's standard input to Proc.Stdin; Stdin is not
	// used then. To stop such a child is to close its input first.
	StdinPipe bool
	// EOFGrace is the time between the end of that input and SIGTERM. Zero means
	// both at once.
	EOFGrace time.Duration
	// Grace is the time between SIGTERM and SIGKILL for the whole tree. Zero
	// means SIGKILL at once, which is right for a shell call.
	Grace time.Duration
}

// Exit is how a child ended.
type Exit struct {
	Code   int    // the exit code; -1 when a signal ended it
	Signal string // like "SIGKILL"; empty when it exited by itself
}

// Proc is a running child and everything that descends from it. Its methods
// are safe for concurrent use.
type Proc struct {
	pid  int
	done chan struct{}
	exit Exit  // valid once done is closed
	err  error // likewise

	entry    *entry   // nil without a Custody
	stdin    *os.File // nil without Spec.StdinPipe
	eofGrace time.Duration

	stopping sync.Mutex
	tree     tree
	later    *time.Timer // sends SIGTERM when the end of input had no effect
}

// ErrSurvivors is returned by Wait when processes of the tree could not be
// killed: they belong to another user or are stuck in the kernel.
var ErrSurvivors = errors.New("some processes it started could not be killed")

// ErrGuardKilled is returned by Wait when the child's guard process was killed
// from outside. The child was ended, but how it would have ended is not known.
var ErrGuardKilled = errors.New("its guard process was killed, and it was ended with all it started")

// Start starts a child. When ctx ends, the tree is ended as by Stop. A start
// that fails returns a *StartError.
func Start(ctx context.Context, spec Spec) (*Proc, error) { return start(ctx, spec, nil) }

func start(ctx context.Context, spec Spec, e *entry) (*Proc, error) {
	defer closeAll(spec.Files)
	if spec.Env == nil {
		spec.Env = defaultEnv()
	}
	path, err := find(spec)
	if err != nil {
		return nil, err
	}
	spec.Env = e.mark(spec.Env)
	p := &Proc{done: make(chan struct{}), entry: e, eofGrace: spec.EOFGrace}
	if err := p.open(spec, path); err != nil {
		e.leave(true)
		return nil, err
	}
	release := context.AfterFunc(ctx, p.Stop)
	go func() {
		<-p.done
		release()
	}()
	return p, nil
}

// open makes the pipe of Spec.StdinPipe and starts the child on it.
func (p *Proc) open(spec Spec, path string) error {
	if !spec.StdinPipe {
		return p.start(spec, path)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return &StartError{Command: spec.Argv[0], Path: path, Reason: ErrStart, Cause: err}
	}
	defer func() { _ = r.Close() }()
	spec.Stdin, p.stdin = r, w
	if err := p.start(spec, path); err != nil {
		_ = w.Close()
		return err
	}
	return nil
}

// Stdin is the writing end of the child's standard input with Spec.StdinPipe,
// else nil. It is closed when the child is stopped and when it has ended.
func (p *Proc) Stdin() io.WriteCloser {
	if p.stdin == nil {
		return nil
	}
	return p.stdin
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// Pid returns the child's process id. It is for records and for people: the
// process may be gone and the id used again.
func (p *Proc) Pid() int { return p.pid }

// Done is closed when the child has ended, its tree is gone and its output has
// been delivered.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Wait waits for Done and returns how the child ended. The error is about
// custody, never about the child's exit code.
func (p *Proc) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}

// Stop begins to end the tree, as gently as its Spec says, and returns at once:
// it closes Stdin, sends SIGTERM after EOFGrace and SIGKILL after Grace.
func (p *Proc) Stop() {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	switch {
	case p.ended() || p.later != nil:
	case p.closeStdin() && p.eofGrace > 0:
		p.later = time.AfterFunc(p.eofGrace, func() { p.end(true) })
	default:
		p.tree.end(true)
	}
}

// closeStdin ends the child's input and reports whether it has one of ours.
func (p *Proc) closeStdin() bool {
	if p.stdin == nil {
		return false
	}
	_ = p.stdin.Close() // closed by its writer before: just as well
	return true
}

// Kill begins to end the tree without any grace and returns at once.
func (p *Proc) Kill() { p.end(false) }

func (p *Proc) end(gently bool) {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.ended() {
		return
	}
	p.tree.end(gently)
	if !gently {
		p.entry.kill()
	}
}

func (p *Proc) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// finish records the end, once.
func (p *Proc) finish(exit Exit, err error) {
	p.exit, p.err = exit, err
	p.entry.leave(!errors.Is(err, ErrSurvivors))
	close(p.done)
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.later != nil {
		p.later.Stop()
	}
	p.closeStdin()
	p.tree.release()
}
