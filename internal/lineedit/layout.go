package lineedit

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Frame is what stands below the output: rows, none wider than the terminal,
// and the place of the cursor.
type Frame struct {
	Rows     []string
	Row, Col int
}

// indent stands before the further lines of a text.
const indent = "  "

// tabWidth is how a tab in a text is shown.
const tabWidth = 4

// Frame lays the text out for a terminal of so many columns and rows. Of a text
// that is taller, the part around the cursor is shown.
func (e *Editor) Frame(columns, rows int) Frame {
	l := &layout{columns: max(columns, 2)}
	l.start(e.Prompt)
	at := 0
	for g := displaywidth.StringGraphemes(e.text); g.Next(); {
		if at == e.pos {
			l.mark()
		}
		l.put(g.Value(), g.Width())
		at += len(g.Value())
	}
	if at == e.pos {
		l.mark()
	}
	return l.frame(max(rows-1, 1))
}

// layout breaks a text into rows.
type layout struct {
	columns  int
	done     []string
	row      strings.Builder
	col      int
	at, side int // of the cursor
}

// start begins with the prompt, which is cut to leave room for a character.
func (l *layout) start(prompt string) {
	room := l.columns - 2
	for g := (displaywidth.Options{ControlSequences: true}).StringGraphemes(prompt); g.Next() && l.col+g.Width() <= room; {
		l.row.WriteString(g.Value())
		l.col += g.Width()
	}
}

func (l *layout) put(character string, width int) {
	switch character {
	case "\n":
		l.end()
		l.row.WriteString(indent[:min(len(indent), l.columns-2)])
		l.col = min(len(indent), l.columns-2)
		return
	case "\t":
		character, width = strings.Repeat(" ", tabWidth), tabWidth
	}
	if l.col+width > l.columns {
		l.end()
	}
	if width > l.columns {
		return // a tab on a terminal narrower than it
	}
	l.row.WriteString(character)
	l.col += width
}

func (l *layout) end() {
	l.done = append(l.done, l.row.String())
	l.row.Reset()
	l.col = 0
}

// mark puts the cursor where the next character goes.
func (l *layout) mark() {
	if l.col >= l.columns {
		l.end()
	}
	l.at, l.side = len(l.done), l.col
}

func (l *layout) frame(most int) Frame {
	l.end()
	from := 0
	if len(l.done) > most {
		from = min(max(0, l.at-most/2), len(l.done)-most)
	}
	return Frame{Rows: l.done[from:min(len(l.done), from+most)], Row: l.at - from, Col: l.side}
}
