package cli

import (
	"bufio"
	"context"
	"errors"
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
