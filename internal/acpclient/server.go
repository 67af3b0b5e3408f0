package acpclient

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/proc"
)

const (
	// maxNoise is how many lines in a row may be no messages.
	maxNoise = 1000
	// keptNoise is how many of them are shown when that is why it failed.
	keptNoise = 5
	// noiseLine is how much of one is kept, in bytes.
	noiseLine = 200
)

// exitPatience is how long a server whose output has ended may take to end.
const exitPatience = 2 * time.Second

// server is the process of an agent.
type server struct {
	name   string
	proc   *proc.Proc
	stderr *proc.Tail

	mu     sync.Mutex
	noise  []string // the first lines on stdout that were no messages
	inARow int
	flood  func() // ends the connection
}

// startServer starts the agent. lines gets what it writes to stderr; it may be
// nil.
func startServer(ctx context.Context, o Options, lines func(string)) (*server, acp.MessageConn, error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe: %w", err)
	}
	s := &server{name: strings.Join(o.Server, " "), stderr: &proc.Tail{}}
	spec := proc.Spec{
		Argv: o.Server, Dir: o.Cwd, Env: o.ServerEnv,
		StdinPipe: true, Stdout: outW, Stderr: s.stderr,
		EOFGrace: proc.EOFGrace, Grace: proc.TermGrace,
	}
	if lines != nil {
		spec.Stderr = &tee{tail: s.stderr, line: lines}
	}
	s.proc, err = proc.Start(context.WithoutCancel(ctx), spec) // it is ended by stop, in order
	_ = outW.Close()                                           // the child's end
	if err != nil {
		_ = outR.Close()
		return nil, nil, fmt.Errorf("start the server: %w", err)
	}
	pipe := acp.NewStdio(outR, s.proc.Stdin(), 0)
	pipe.SkipNoise = s.skip
	s.flood = func() { _ = pipe.Close() }
	return s, heard{MessageConn: pipe, server: s}, nil
}

// skip keeps the first lines of noise, and ends a flood of them.
func (s *server) skip(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := printable.Line(string(line[:min(len(line), 4*noiseLine)]))
	if len(s.noise) < keptNoise && text != "" {
		s.noise = append(s.noise, printable.Clip(text, noiseLine))
	}
	if s.inARow++; s.inARow == maxNoise {
		s.flood()
	}
}

// heard notes messages between the noise.
type heard struct {
	acp.MessageConn
	server *server
}

func (h heard) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	msg, err := h.MessageConn.ReadMessage(ctx)
	if err == nil {
		h.server.mu.Lock()
		h.server.inARow = 0
		h.server.mu.Unlock()
	}
	return msg, err
}

// stop ends the server and all it started, as gently as it lets itself be ended.
func (s *server) stop() {
	if s == nil {
		return
	}
	s.proc.Stop()
	<-s.proc.Done()
}

// epitaph says how the server ended and what it said last. It waits a moment for
// one that is about to.
func (s *server) epitaph() error {
	select {
	case <-s.proc.Done():
	case <-time.After(exitPatience):
		return fmt.Errorf("the server %s closed its output%s", s.name, s.last())
	}
	exit, err := s.proc.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("the server %s ended: %w%s", s.name, err, s.last())
	case exit.Signal != "":
		return fmt.Errorf("the server %s was ended by %s%s", s.name, exit.Signal, s.last())
	}
	return fmt.Errorf("the server %s exited with code %d%s", s.name, exit.Code, s.last())
}

// last describes what the server wrote besides messages.
func (s *server) last() string {
	s.mu.Lock()
	noise, flood := s.noise, s.inARow >= maxNoise
	s.mu.Unlock()
	tail := s.stderr.Lines()
	switch {
	case flood:
		return "; it writes what is no ACP: " + strings.Join(noise, " | ")
	case len(tail) > 0:
		return ": " + printable.Line(strings.Join(tail, " | "))
	case len(noise) > 0:
		return "; it wrote " + strings.Join(noise, " | ")
	}
	return ""
}

// silent says that the server did not answer in time.
func (s *server) silent(d time.Duration) error {
	return fmt.Errorf("the server %s has not answered initialize for %v; does it speak ACP?%s", s.name, d, s.last())
}

// tee keeps the tail of a stream and passes its lines on.
type tee struct {
	tail *proc.Tail
	line func(string)
	rest []byte
}

// Write never fails.
func (t *tee) Write(p []byte) (int, error) {
	_, err := t.tail.Write(p)
	t.rest = append(t.rest, p...)
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 && len(t.rest) < 64<<10 {
			return len(p), err
		}
		if i < 0 {
			i = len(t.rest) - 1
		}
		t.line(string(bytes.TrimRight(t.rest[:i+1], "\r\n")))
		t.rest = t.rest[i+1:]
	}
}
