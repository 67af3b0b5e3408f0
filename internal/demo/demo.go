// Package demo walks the whole path once, for people to watch: it starts a real
// `grapnel acp` as an editor would, in a small repository made for it, with the
// built-in offline model, and shows a turn with tools, a permission granted and
// one refused, a cancel, and the session loaded again by a new process.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/grapnel-ai/grapnel/acp/v1"
)

// stepTimeout ends a demo that hangs; one step takes milliseconds.
const stepTimeout = 30 * time.Second

// Run shows the demo on out. self is the grapnel binary to start. It needs no
// network, no account and no terminal, and leaves nothing behind.
func Run(ctx context.Context, self string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "grapnel-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := &show{out: out, self: self, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "repo"), started: time.Now()}
	if err := s.prepare(); err != nil {
		return fmt.Errorf("prepare the demo: %w", err)
	}
	if err := s.play(ctx); err != nil {
		return fmt.Errorf("the demo stopped: %w", err)
	}
	return nil
}

// show is one run of the demo.
type show struct {
	out              io.Writer
	self, home, repo string
	started          time.Time
}

// prepare makes the configuration and the repository.
func (s *show) prepare() error {
	files := map[string]string{
		filepath.Join(s.home, "config.toml"): "[providers.demo]\nkind = \"demo\"\n\n[agents.main]\nprovider = \"demo\"\n",
		filepath.Join(s.repo, "README.md"):   "# Greeter\n\nSays helo to whoever runs it.\n",
		filepath.Join(s.repo, "greet.sh"):    "#!/bin/sh\n# Greets the user.\necho helo\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// play is the story: one session, four turns, two processes.
func (s *show) play(ctx context.Context) error {
	s.title("An editor starts grapnel acp and opens a session")
	e, err := start(ctx, s)
	if err != nil {
		return err
	}
	defer e.kill()
	session, err := e.open(ctx)
	if err != nil {
		return err
	}
	turns := []struct {
		title, prompt string
		allow         bool
	}{
		{"The agent looks around: reading needs no permission", "list files, then read README.md, then search for helo", true},
		{"It edits a file: you are asked, and allow it", "replace \"echo helo\" with \"echo hello\" in greet.sh", true},
		{"It wants to run a command: you are asked, and refuse", "run sh greet.sh", false},
	}
	for _, t := range turns {
		s.title(t.title)
		e.allow = t.allow
		if err := e.prompt(ctx, session, t.prompt, v1.StopReasonEndTurn); err != nil {
			return err
		}
	}
	if err := s.checkEdit(); err != nil {
		return err
	}
	s.title("A turn takes too long: you cancel it")
	e.cancelAt = session
	if err := e.prompt(ctx, session, "wait 60 seconds", v1.StopReasonCancelled); err != nil {
		return err
	}
	shown := e.shown()
	if err := e.end(); err != nil {
		return err
	}
	return s.reload(ctx, session, shown)
}

// reload opens the session in a new process and holds it against what the first
// one showed.
func (s *show) reload(ctx context.Context, session v1.SessionID, shown int) error {
	s.title("The process ends. A new one loads the session")
	e, err := start(ctx, s)
	if err != nil {
		return err
	}
	defer e.kill()
	e.quiet = true
	if err := e.load(ctx, session); err != nil {
		return err
	}
	replayed := e.shown()
	if replayed < shown {
		return fmt.Errorf("the loaded session shows %d tool calls, the live one had %d", replayed, shown)
	}
	s.line("  the whole conversation is back: %d tool calls, with their results", replayed)
	if err := e.end(); err != nil {
		return err
	}
	s.line("\nDone in %.1f s. Nothing was left behind.", time.Since(s.started).Seconds())
	s.line("Next: run `grapnel setup`, then put `grapnel acp` into your editor (docs/editors.md).")
	return nil
}

func (s *show) checkEdit() error {
	text, err := os.ReadFile(filepath.Join(s.repo, "greet.sh"))
	if err != nil {
		return err
	}
	if want := "#!/bin/sh\n# Greets the user.\necho hello\n"; string(text) != want {
		return fmt.Errorf("greet.sh reads %q after the edit, not %q", text, want)
	}
	return nil
}

func (s *show) title(text string) { s.line("\n== %s", text) }

// line prints one line; a writer that fails is noticed by whoever reads it.
func (s *show) line(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }
