package setup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// errEnded reports that the person ended the questions.
var errEnded = errors.New("setup was ended before it was complete; nothing was changed")

// Console is a Terminal on the process's own terminal.
type Console struct {
	in  *os.File
	buf *bufio.Reader
	out io.Writer
}

// NewConsole returns a Terminal that reads from a terminal and shows on out.
func NewConsole(in *os.File, out io.Writer) *Console {
	return &Console{in: in, buf: bufio.NewReader(in), out: out}
}

// Say implements Terminal.
func (c *Console) Say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// Ask implements Terminal.
func (c *Console) Ask(ctx context.Context, question, suggestion string) (string, error) {
	if suggestion != "" {
		question += " [" + suggestion + "]"
	}
	fmt.Fprint(c.out, question+": ")
	line, err := c.line(ctx, func() (string, error) { return c.buf.ReadString('\n') })
	if err != nil {
		fmt.Fprintln(c.out) // the person did not end the line
	}
	if line == "" {
		line = suggestion
	}
	return line, err
}

// Choose implements Terminal.
func (c *Console) Choose(ctx context.Context, question string, options []string, suggested int) (int, error) {
	c.Say("%s", question)
	for i, o := range options {
		c.Say("  %2d) %s", i+1, o)
	}
	for {
		answer, err := c.Ask(ctx, "Number", strconv.Itoa(suggested+1))
		if err != nil {
			return 0, err
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(options) {
			return n - 1, nil
		}
		c.Say("Choose a number from 1 to %d.", len(options))
	}
}

// Secret implements Terminal. Whatever ends it, the terminal shows again what is
// typed.
func (c *Console) Secret(ctx context.Context, question string) (string, error) {
	fd := int(c.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", fmt.Errorf("read without showing: %w", err)
	}
	defer func() {
		_ = term.Restore(fd, before)
		fmt.Fprintln(c.out)
	}()
	fmt.Fprint(c.out, question+" (not shown): ")
	if c.buf.Buffered() > 0 { // typed ahead, or pasted
		return c.line(ctx, func() (string, error) { return c.buf.ReadString('\n') })
	}
	return c.line(ctx, func() (string, error) {
		secret, err := term.ReadPassword(fd)
		return string(secret), err
	})
}

// line reads a line. A read of a terminal cannot be interrupted, so when ctx
// ends it is left behind.
func (c *Console) line(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		line string
		err  error
	}
	got := make(chan result, 1)
	go func() {
		line, err := read()
		got <- result{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-got:
		if errors.Is(r.err, io.EOF) {
			r.err = errEnded
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// absolute is a path as people write it; ~ is the home directory.
func absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("no path was given")
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	return filepath.Abs(path)
}
