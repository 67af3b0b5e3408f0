package acpclient

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/grapnel-ai/grapnel/internal/lineedit"
)

const (
	bracketedPasteOn  = "\x1b[?2004h"
	bracketedPasteOff = "\x1b[?2004l"
)

// lateness is how long the end of a line may take that comes while something is
// being typed.
const lateness = 500 * time.Millisecond

// console is the terminal of an interactive client. It is safe for concurrent
// use.
type console struct {
	in, out int // descriptors; asking the files for them again would disturb a read
	before  *term.State
	w       *os.File

	mu     sync.Mutex
	screen *lineedit.Screen
	held   string      // of an answer that comes while there is a line being typed
	late   *time.Timer // shows what is held when nothing follows
	err    error       // of the first write that failed
}

// openConsole takes the terminal over: in is where keys come from, out where
// things are shown.
func openConsole(in, out *os.File) (*console, error) {
	c := &console{in: int(in.Fd()), out: int(out.Fd()), w: out, screen: lineedit.NewScreen(out, 0, 0)}
	var err error
	if c.before, err = term.MakeRaw(c.in); err != nil {
		return nil, err
	}
	c.resize()
	_, err = out.WriteString(bracketedPasteOn)
	c.note(err)
	return c, nil
}

// close gives the terminal back as it was.
func (c *console) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		c.late.Stop()
	}
	c.note(c.screen.Hide())
	c.finish()
	_, err := c.w.WriteString(bracketedPasteOff)
	c.note(err)
	c.note(term.Restore(c.in, c.before))
}

func (c *console) note(err error) {
	if c.err == nil {
		c.err = err
	}
}

// answer shows a piece of an answer. Above a line being typed there are whole
// lines only.
func (c *console) answer(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held += text
	if !c.screen.Shown() {
		c.put(c.held)
		c.held = ""
		return
	}
	end := strings.LastIndexByte(c.held, '\n') + 1
	c.put(c.held[:end])
	if c.held = c.held[end:]; c.held == "" {
		return
	}
	if c.late == nil {
		c.late = time.AfterFunc(lateness, c.endAnswer)
	} else {
		c.late.Reset(lateness)
	}
}

func (c *console) aside(text string) { c.print(text) }

func (c *console) print(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(text)
}

// put is print for those who hold c.mu.
func (c *console) put(text string) {
	c.note(c.screen.Print(strings.ReplaceAll(text, "\t", "    ")))
}

func (c *console) endAnswer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish()
}

// finish ends the line of an answer; c.mu is held.
func (c *console) finish() {
	if c.held != "" {
		c.put(c.held)
		c.held = ""
	}
	if c.screen.Midline() {
		c.put("\n")
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
func (c *console) resize() {
	columns, rows, err := term.GetSize(c.out)
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
