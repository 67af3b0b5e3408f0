package acpclient

import (
	"context"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/grapnel-ai/grapnel/internal/lineedit"
)

const (
	bracketedPasteOn  = "\x1b[?2004h"
	bracketedPasteOff = "\x1b[?2004l"
)

// console is the terminal of an interactive client. It is safe for concurrent
// use.
type console struct {
	tty    *os.File
	before *term.State

	mu     sync.Mutex
	screen *lineedit.Screen
	err    error // of the first write that failed
}

// openConsole takes the terminal over: in is where keys come from, out where
// things are shown.
func openConsole(in, out *os.File) (*console, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	columns, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		columns, rows = 0, 0
	}
	c := &console{tty: in, before: before, screen: lineedit.NewScreen(out, columns, rows)}
	_, err = out.WriteString(bracketedPasteOn)
	c.note(err)
	return c, nil
}

// close gives the terminal back as it was.
func (c *console) close(out *os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Hide())
	if c.screen.Midline() {
		c.note(c.screen.Print("\n"))
	}
	_, err := out.WriteString(bracketedPasteOff)
	c.note(err)
	c.note(term.Restore(int(c.tty.Fd()), c.before))
}

func (c *console) note(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *console) answer(text string) { c.print(text) }
func (c *console) aside(text string)  { c.print(text) }

func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Print(strings.ReplaceAll(text, "\t", "    ")))
}

func (c *console) endAnswer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.screen.Midline() {
		c.note(c.screen.Print("\n"))
	}
}

func (c *console) endMessage() { c.endAnswer() }

// show draws what is being typed.
func (c *console) show(ed *lineedit.Editor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Show(ed.Frame(c.screen.Size())))
}

// leave makes what was typed part of what stands above.
func (c *console) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Leave())
}

func (c *console) hide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Hide())
}

func (c *console) wipe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(c.screen.Wipe())
}

// resize asks the terminal for its size.
func (c *console) resize(out *os.File) {
	columns, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return // the last one is as good
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.screen.Resize(columns, rows)
}

// keystrokes reads the terminal until it ends. A read cannot be interrupted:
// when ctx ends, it is left behind.
func keystrokes(ctx context.Context, in *os.File) <-chan []byte {
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 4096)
			n, err := in.Read(buf)
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return chunks
}
