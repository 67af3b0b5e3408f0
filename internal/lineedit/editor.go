// Package lineedit edits what a person types on a terminal: with history, tab
// completion, pasted text of several lines and characters of any width. It
// works on bytes and strings alone: a Decoder makes keys of what a raw terminal
// sends, an Editor changes its text by them, and a Screen shows it below output
// that goes on.
package lineedit

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// Action is what a key asks of the owner of an Editor.
type Action int

// What a key can ask for.
const (
	None      Action = iota
	Submit           // the text is done
	Quit             // end of input on an empty line
	Break            // Ctrl+C, whatever the text
	Wipe             // clear the screen
	Choices          // show Editor.Candidates
	Withdrawn        // Escape
)

// maxHistory is how many lines are remembered.
const maxHistory = 500

// Editor holds a text and a place in it. It is for one goroutine.
type Editor struct {
	// Prompt stands before the text; escape sequences in it take no room.
	Prompt string
	// Complete returns the words that could stand in place of the one before the
	// cursor, given everything before the cursor. Nil completes nothing.
	Complete func(before string) []string
	// Candidates are the words to choose from after Choices.
	Candidates []string

	text    string
	pos     int // in bytes, between characters as a person sees them
	killed  string
	history []string
	at      int    // in history; len(history) is the text being written
	draft   string // what was written before history was looked at
}

// Text returns what is in the editor.
func (e *Editor) Text() string { return e.text }

// Set replaces the text and puts the cursor behind it.
func (e *Editor) Set(text string) {
	e.text, e.pos = text, len(text)
}

// Reset empties the editor.
func (e *Editor) Reset() {
	e.Set("")
	e.at, e.draft = len(e.history), ""
}

// Remember adds a line to the history, unless it is the last one already.
func (e *Editor) Remember(line string) {
	if line != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != line) {
		e.history = append(e.history, line)
	}
	if len(e.history) > maxHistory {
		e.history = slices.Delete(e.history, 0, len(e.history)-maxHistory)
	}
	e.at, e.draft = len(e.history), ""
}

// Press applies a key.
func (e *Editor) Press(k Key) Action {
	switch k.Code {
	case Text:
		e.insert(k.Text)
	case Paste:
		e.insert(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(k.Text))
	case Newline:
		e.insert("\n")
	case Enter:
		return Submit
	case Interrupt:
		return Break
	case Clear:
		return Wipe
	case Escape:
		return Withdrawn
	case Tab:
		return e.complete()
	case EOF:
		if e.text == "" {
			return Quit
		}
		e.cut(e.pos, e.right(e.pos))
	case Up:
		e.vertical(-1)
	case Down:
		e.vertical(1)
	default:
		e.edit(k.Code)
	}
	return None
}

// edit applies keys that move within the text or take from it.
func (e *Editor) edit(c Code) {
	switch c {
	case Left:
		e.pos = e.left(e.pos)
	case Right:
		e.pos = e.right(e.pos)
	case Home:
		e.pos = e.lineStart()
	case End:
		e.pos = e.lineEnd()
	case WordLeft:
		e.pos = e.wordLeft()
	case WordRight:
		e.pos = e.wordRight()
	case Backspace:
		e.cut(e.left(e.pos), e.pos)
	case Delete:
		e.cut(e.pos, e.right(e.pos))
	case KillWord:
		e.kill(e.wordLeft(), e.pos)
	case KillLine:
		e.kill(e.lineStart(), e.pos)
	case KillEnd:
		e.kill(e.pos, e.lineEnd())
	case Yank:
		e.insert(e.killed)
	}
}

// insert puts text at the cursor, without what could act on the terminal.
func (e *Editor) insert(s string) {
	s = printable.Text(s)
	e.text = e.text[:e.pos] + s + e.text[e.pos:]
	e.pos += len(s)
	e.pos = e.settle(e.pos)
}

// settle moves a place behind the character it is in: what is inserted may join
// what stands around it.
func (e *Editor) settle(pos int) int {
	for end := range bounds(e.text) {
		if end >= pos {
			return end
		}
	}
	return len(e.text)
}

func (e *Editor) cut(from, to int) {
	e.text = e.text[:from] + e.text[to:]
	e.pos = e.settle(from)
}

func (e *Editor) kill(from, to int) {
	if from < to {
		e.killed = e.text[from:to]
		e.cut(from, to)
	}
}

// bounds yields the ends of the characters of s, as a person counts them,
// beginning with 0.
func bounds(s string) func(func(int) bool) {
	return func(yield func(int) bool) {
		if !yield(0) {
			return
		}
		end := 0
		for g := displaywidth.StringGraphemes(s); g.Next(); {
			end += len(g.Value())
			if !yield(end) {
				return
			}
		}
	}
}

func (e *Editor) left(pos int) int {
	last := 0
	for end := range bounds(e.text) {
		if end >= pos {
			break
		}
		last = end
	}
	return last
}

func (e *Editor) right(pos int) int {
	for end := range bounds(e.text) {
		if end > pos {
			return end
		}
	}
	return len(e.text)
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.pos], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if i := strings.IndexByte(e.text[e.pos:], '\n'); i >= 0 {
		return e.pos + i
	}
	return len(e.text)
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func (e *Editor) wordLeft() int {
	i := e.pos
	for i > 0 && blank(e.text[i-1]) {
		i--
	}
	for i > 0 && !blank(e.text[i-1]) {
		i--
	}
	return i
}

func (e *Editor) wordRight() int {
	i := e.pos
	for i < len(e.text) && blank(e.text[i]) {
		i++
	}
	for i < len(e.text) && !blank(e.text[i]) {
		i++
	}
	return i
}
