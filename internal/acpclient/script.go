package acpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// nobody is the person of a script.
type nobody struct{}

func (nobody) choose(context.Context, question) (int, error) { return 0, errNobody }
func (nobody) line(context.Context, string) (string, error)  { return "", errNobody }

// streams is the output of a script: answers on stdout, all else on stderr.
type streams struct {
	out, err io.Writer
	midline  bool
}

func (s *streams) answer(text string) {
	_, _ = io.WriteString(s.out, text) // whoever reads it is gone; the session is not
	s.midline = !strings.HasSuffix(text, "\n")
}

func (s *streams) aside(text string) { _, _ = io.WriteString(s.err, text) }

// endAnswer leaves the line open: what is aside goes elsewhere.
func (s *streams) endAnswer() {}

func (s *streams) endMessage() {
	if s.midline {
		_, _ = io.WriteString(s.out, "\n")
		s.midline = false
	}
}

// scripted sends every line of the input as a prompt.
func scripted(ctx context.Context, o Options) (err error) {
	v := newView(&streams{out: o.Stdout, err: o.Stderr}, false)
	var logging sync.Mutex
	log := func(line string) {
		logging.Lock()
		defer logging.Unlock()
		_, _ = fmt.Fprintln(o.Stderr, printable.Text(line))
	}
	c, err := connect(ctx, o, v, nobody{}, log)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.start(ctx); err != nil {
		return interrupted(ctx, err)
	}
	return c.script(ctx)
}

// interrupted is err, or ErrInterrupted where that is the cause of it.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// script runs the prompts and returns the most serious end of them.
func (c *client) script(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	lines := prompts(reading, c.opts.Stdin)
	var worst error
	for {
		select {
		case <-ctx.Done():
			return ErrInterrupted
		case <-c.over:
			return c.died()
		case line, more := <-lines:
			if !more {
				return told(worst)
			}
			if line.err != nil {
				return fmt.Errorf("read the prompts: %w", line.err)
			}
			err := c.prompt(ctx, line.text)
			c.view.flush()
			worst = worse(worst, err)
			switch {
			case errors.Is(err, ErrInterrupted):
				return err
			case err != nil && c.ended():
				return err
			case err != nil:
				c.view.complain(err)
			}
		}
	}
}

// ended reports whether the connection is over.
func (c *client) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// died says how the agent ended between turns.
func (c *client) died() error { return c.gone(acp.ErrClosed) }

// ToldError is an error that has been shown where it happened.
type ToldError struct{ Err error }

// Error is that of the cause.
func (e *ToldError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ToldError) Unwrap() error { return e.Err }

func told(err error) error {
	if err == nil {
		return nil
	}
	return &ToldError{Err: err}
}

// worse returns the more serious of two ends.
func worse(a, b error) error {
	for _, end := range []error{ErrInterrupted, ErrFailed, ErrCapped, ErrRefused, ErrDenied} {
		if errors.Is(a, end) {
			return a
		}
		if errors.Is(b, end) {
			return b
		}
	}
	return errors.Join(a, b)
}

// input is a line that was read, or why none could be.
type input struct {
	text string
	err  error
}

// prompts reads the lines that are not blank. A read cannot be interrupted: when
// ctx ends, it is left behind.
func prompts(ctx context.Context, r io.Reader) <-chan input {
	lines := make(chan input)
	go func() {
		defer close(lines)
		in := bufio.NewReader(r)
		for {
			text, err := in.ReadString('\n')
			text = strings.TrimRight(text, "\r\n")
			if strings.TrimSpace(text) != "" {
				select {
				case lines <- input{text: text}:
				case <-ctx.Done():
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				select {
				case lines <- input{err: err}:
				case <-ctx.Done():
				}
				return
			}
		}
	}()
	return lines
}
