package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// isTerminal reports whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readLine reads one line, or less at the end. A read cannot be interrupted, so
// when ctx ends it is left behind.
func readLine(ctx context.Context, r *bufio.Reader) (string, error) {
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	go func() {
		line, err := r.ReadString('\n')
		if errors.Is(err, io.EOF) && line != "" {
			err = nil
		}
		read <- result{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case got := <-read:
		return got.line, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// terminalWriter takes out what could act on the terminal it writes to, a line
// at a time.
type terminalWriter struct {
	w io.Writer
}

func (t terminalWriter) Write(lines []byte) (int, error) {
	if _, err := io.WriteString(t.w, printable.Text(string(lines))); err != nil {
		return 0, err
	}
	return len(lines), nil
}

// readHidden asks for a line on a terminal that shows nothing of it, from before
// the question is there until after the answer. Whatever ends it, the terminal
// then shows again what is typed.
func readHidden(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("read without showing: %w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), before) }()
	type result struct {
		line string
		err  error
	}
	read := make(chan result, 1)
	keys := &keyReader{r: in}
	go func() {
		t := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{keys, out}, "")
		line, err := t.ReadPassword(question)
		read <- result{line, err}
	}()
	select {
	case got := <-read:
		if !errors.Is(got.err, io.EOF) {
			return got.line, got.err
		}
		fmt.Fprint(out, "\r\n")
		if keys.interrupted { // a raw terminal sends no signal
			return "", &codeError{code: ExitInterrupted}
		}
		return "", errors.New("no value was given; nothing was changed")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// keyReader notes whether Ctrl-C was among the keys.
type keyReader struct {
	r           io.Reader
	interrupted bool
}

func (k *keyReader) Read(p []byte) (int, error) {
	n, err := k.r.Read(p)
	k.interrupted = k.interrupted || bytes.IndexByte(p[:n], 3) >= 0
	return n, err
}
