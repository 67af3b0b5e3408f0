package lineedit

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Screen writes output to a raw terminal and keeps a frame below it. It is for
// one goroutine at a time.
type Screen struct {
	w       io.Writer
	columns int
	rows    int
	midline bool // the output does not end with a line
	shown   bool
	frame   Frame
	out     bytes.Buffer
}

// NewScreen returns the screen of a terminal of so many columns and rows.
func NewScreen(w io.Writer, columns, rows int) *Screen {
	s := &Screen{w: w}
	s.Resize(columns, rows)
	return s
}

// Resize tells the size of the terminal. What is shown is drawn anew by the next
// Show.
func (s *Screen) Resize(columns, rows int) {
	if columns <= 0 || rows <= 0 { // some terminals do not know
		columns, rows = 80, 24
	}
	s.columns, s.rows = columns, rows
}

// Size returns the columns and rows of the terminal.
func (s *Screen) Size() (columns, rows int) { return s.columns, s.rows }

// Midline reports whether the output ends within a line.
func (s *Screen) Midline() bool { return s.midline }

// Shown reports whether there is a frame.
func (s *Screen) Shown() bool { return s.shown }

// Print writes text above the frame. The text is safe for a terminal already;
// its lines end with \n alone.
func (s *Screen) Print(text string) error {
	if text == "" {
		return nil
	}
	shown, frame := s.shown, s.frame
	s.erase()
	s.out.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
	s.midline = !strings.HasSuffix(text, "\n")
	if shown {
		s.draw(frame)
	}
	return s.flush()
}

// Show puts a frame below the output, in place of the one that was there.
func (s *Screen) Show(f Frame) error {
	s.erase()
	s.draw(f)
	return s.flush()
}

// Hide takes the frame away.
func (s *Screen) Hide() error {
	s.erase()
	return s.flush()
}

// Leave makes the frame part of the output.
func (s *Screen) Leave() error {
	if s.shown {
		if down := len(s.frame.Rows) - 1 - s.frame.Row; down > 0 {
			fmt.Fprintf(&s.out, "\x1b[%dB", down)
		}
		s.out.WriteString("\r\n")
		s.shown = false
	}
	return s.flush()
}

// Wipe clears the terminal.
func (s *Screen) Wipe() error {
	s.shown, s.midline = false, false
	s.out.WriteString("\x1b[H\x1b[2J")
	return s.flush()
}

// erase goes to where the frame begins and clears from there. A terminal that
// was made narrower has broken its rows since.
func (s *Screen) erase() {
	if !s.shown {
		return
	}
	up := s.frame.Col / s.columns
	for _, row := range s.frame.Rows[:s.frame.Row] {
		up += max(1, (displaywidth.Options{ControlSequences: true}.String(row)+s.columns-1)/s.columns)
	}
	if up > 0 {
		fmt.Fprintf(&s.out, "\x1b[%dA", up)
	}
	s.out.WriteString("\r\x1b[J")
	s.shown = false
}

func (s *Screen) draw(f Frame) {
	if s.midline {
		s.out.WriteString("\r\n")
		s.midline = false
	}
	s.out.WriteString(strings.Join(f.Rows, "\r\n"))
	if up := len(f.Rows) - 1 - f.Row; up > 0 {
		fmt.Fprintf(&s.out, "\x1b[%dA", up)
	}
	s.out.WriteByte('\r')
	if f.Col > 0 {
		fmt.Fprintf(&s.out, "\x1b[%dC", f.Col)
	}
	s.shown, s.frame = true, f
}

func (s *Screen) flush() error {
	_, err := s.w.Write(s.out.Bytes())
	s.out.Reset()
	return err
}
