package lineedit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Code says which key it was.
type Code int

// The keys that are told apart. Ctrl+letter keys that do what another key does
// have its code.
const (
	Text  Code = iota // characters typed, in Key.Text
	Paste             // text that came at once, in Key.Text
	Enter
	Newline // Alt+Enter
	Tab
	Backspace
	Delete
	Left
	Right
	Up
	Down
	Home
	End
	WordLeft
	WordRight
	KillWord  // Ctrl+W
	KillLine  // Ctrl+U
	KillEnd   // Ctrl+K
	Yank      // Ctrl+Y
	Clear     // Ctrl+L
	Interrupt // Ctrl+C
	EOF       // Ctrl+D
	Escape
)

// Key is one key press, or a paste.
type Key struct {
	Code Code
	Text string
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// maxPaste bounds a paste whose end does not come.
	maxPaste = 16 << 20
	// maxSequence bounds an escape sequence whose end does not come.
	maxSequence = 64
)

// Decoder turns the bytes of a raw terminal into keys. The zero value is ready.
type Decoder struct {
	buf     []byte
	pasting bool
}

// Feed takes the next bytes and returns the keys they complete.
func (d *Decoder) Feed(b []byte) []Key {
	d.buf = append(d.buf, b...)
	var keys []Key
	for len(d.buf) > 0 {
		k, n := d.next()
		if n == 0 {
			break
		}
		d.buf = d.buf[n:]
		keys = add(keys, k)
	}
	if len(d.buf) == 0 {
		d.buf = nil
	}
	return keys
}

// Pending reports whether an escape key may have been pressed, or a sequence
// begun: Flush after a moment in which nothing came decides it.
func (d *Decoder) Pending() bool { return len(d.buf) > 0 && !d.pasting }

// Flush returns what was pending as the keys it then is.
func (d *Decoder) Flush() []Key {
	if !d.Pending() {
		return nil
	}
	buf := d.buf
	d.buf = nil
	if buf[0] == 0x1b {
		return []Key{{Code: Escape}}
	}
	return nil // an unfinished character
}

// add joins characters that came together: they are drawn once.
func add(keys []Key, k Key) []Key {
	if k.Code == Text && k.Text == "" {
		return keys
	}
	if last := len(keys) - 1; last >= 0 && k.Code == Text && keys[last].Code == Text {
		keys[last].Text += k.Text
		return keys
	}
	return append(keys, k)
}

// next returns the first key of the buffer and its length, 0 while it is not
// whole.
func (d *Decoder) next() (Key, int) {
	if d.pasting {
		return d.paste()
	}
	switch c := d.buf[0]; {
	case c == 0x1b:
		return d.escape()
	case c < 0x20 || c == 0x7f:
		return control(c), 1
	case !utf8.FullRune(d.buf):
		return Key{}, 0
	}
	_, n := utf8.DecodeRune(d.buf)
	return Key{Text: strings.ToValidUTF8(string(d.buf[:n]), "\ufffd")}, n
}

// paste gathers text up to the end mark.
func (d *Decoder) paste() (Key, int) {
	end := bytes.Index(d.buf, []byte(pasteEnd))
	n := end + len(pasteEnd)
	if end < 0 {
		if len(d.buf) < maxPaste {
			return Key{}, 0
		}
		end, n = len(d.buf), len(d.buf)
	}
	text := string(d.buf[:end])
	d.pasting = false
	return Key{Code: Paste, Text: text}, n
}

func control(c byte) Key {
	codes := map[byte]Code{
		'\r': Enter, '\n': Enter, '\t': Tab, 0x7f: Backspace, 8: Backspace,
		1: Home, 5: End, 2: Left, 6: Right, 16: Up, 14: Down,
		23: KillWord, 21: KillLine, 11: KillEnd, 25: Yank, 12: Clear, 3: Interrupt, 4: EOF,
	}
	return Key{Code: codes[c]} // an unknown one is no text
}

// escape reads a sequence: ESC [ parameters final, ESC O final, or Alt with a
// key.
func (d *Decoder) escape() (Key, int) {
	if len(d.buf) < 2 {
		return Key{}, 0
	}
	switch d.buf[1] {
	case '[', 'O':
		return d.sequence()
	case '\r', '\n':
		return Key{Code: Newline}, 2
	case 0x7f, 8:
		return Key{Code: KillWord}, 2
	case 'b', 'B':
		return Key{Code: WordLeft}, 2
	case 'f', 'F':
		return Key{Code: WordRight}, 2
	case 0x1b:
		return Key{Code: Escape}, 1
	}
	return Key{}, 2
}

func (d *Decoder) sequence() (Key, int) {
	i := 2
	for i < len(d.buf) && d.buf[i] >= 0x20 && d.buf[i] <= 0x3f {
		i++
	}
	if i == len(d.buf) {
		if i > maxSequence {
			return Key{}, i
		}
		return Key{}, 0
	}
	seq := string(d.buf[:i+1])
	if seq == pasteStart {
		d.pasting = true
	}
	return named(seq[2:i], seq[i]), i + 1
}

// named is the key of a sequence by its parameters and its last byte.
func named(params string, final byte) Key {
	number, modifier, _ := strings.Cut(params, ";")
	word := modifier == "5" || modifier == "3" // with Ctrl or Alt
	switch {
	case final == 'C' && word:
		return Key{Code: WordRight}
	case final == 'D' && word:
		return Key{Code: WordLeft}
	case final == '~':
		return Key{Code: map[string]Code{"1": Home, "3": Delete, "4": End, "7": Home, "8": End}[number]}
	}
	return Key{Code: map[byte]Code{'A': Up, 'B': Down, 'C': Right, 'D': Left, 'H': Home, 'F': End}[final]}
}
