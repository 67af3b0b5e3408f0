package acpclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/grapnel-ai/grapnel/internal/lineedit"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

const (
	// escapeWait is how long the rest of an escape sequence may take.
	escapeWait = 50 * time.Millisecond
	// maxAhead is how many keys may be typed ahead.
	maxAhead = 4096
)

// loop is what a person at a terminal works with: one goroutine that has the
// keys, the line being written and the questions.
type loop struct {
	ctx     context.Context
	client  *client
	console *console

	keys   lineedit.Decoder
	editor lineedit.Editor
	ahead  []lineedit.Key // typed while a turn runs

	asked   chan *asking
	waiting []*asking // questions, the first one is shown
	form    lineedit.Editor

	turn     chan error // of the running turn; nil when none runs
	stop     context.CancelFunc
	breaks   int // Ctrl+C pressed, since anything else was
	ending   error
	finished bool
}

// asking is a question on its way to the person.
type asking struct {
	ctx      context.Context
	question question
	prompt   string // of a line to be typed; the question is not used then
	answer   chan reply
}

type reply struct {
	chosen int
	text   string
	err    error
}

// interactive works with a person at a terminal.
func interactive(ctx context.Context, o Options) (err error) {
	out, ok := o.Stdout.(*os.File)
	if !ok {
		return errors.New("the output is no terminal")
	}
	con, err := openConsole(o.Terminal, out)
	if err != nil {
		return fmt.Errorf("use the terminal: %w", err)
	}
	defer con.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := newView(con, paint(o.Color))
	l := &loop{ctx: ctx, console: con, asked: make(chan *asking)}
	l.editor.Prompt = v.paint.paint(bold("> "))
	l.editor.Complete = l.complete
	keys := keystrokes(ctx, o.Terminal)
	c, err := connect(ctx, o, v, l, l.logger(o, v))
	if err != nil {
		return interrupted(ctx, err)
	}
	l.client = c
	defer func() { err = errors.Join(err, c.close()) }()
	return l.run(keys)
}

// logger shows lines of the wire and of the server's stderr: on the terminal, or
// where stderr goes instead.
func (l *loop) logger(o Options, v *view) func(string) {
	if f, ok := o.Stderr.(*os.File); ok && !term.IsTerminal(int(f.Fd())) {
		return func(line string) { _, _ = fmt.Fprintln(f, printable.Text(line)) }
	}
	return func(line string) { v.say(dim(printable.Text(line))) }
}

// run opens the session and lets the person work until they have had enough.
func (l *loop) run(keys <-chan []byte) error {
	changes, stop := resized()
	defer stop()
	opening, giveUp := context.WithCancel(l.ctx)
	defer giveUp()
	l.begin(giveUp, func() error { return l.client.start(opening) })
	started := false
	for !l.finished {
		var flush <-chan time.Time
		if l.keys.Pending() {
			flush = time.After(escapeWait)
		}
		var withdrawn <-chan struct{}
		if len(l.waiting) > 0 {
			withdrawn = l.waiting[0].ctx.Done()
		}
		select {
		case <-l.ctx.Done():
			return ErrInterrupted
		case <-changes:
			l.console.resize()
			l.draw()
		case b, ok := <-keys:
			if !ok {
				return l.ending // the terminal is gone
			}
			l.press(l.keys.Feed(b))
		case <-flush:
			l.press(l.keys.Flush())
		case a := <-l.asked:
			l.enqueue(a)
		case <-withdrawn:
			l.answer(reply{err: context.Cause(l.waiting[0].ctx)})
		case err := <-l.turn:
			if !started && err != nil && !l.needsLogin(err) {
				return l.endOf(err)
			}
			l.turnOver(err, !started)
			started = true
		case <-l.over():
			return l.client.died()
		}
	}
	return l.ending
}

// over tells that the connection ended, where no turn will.
func (l *loop) over() <-chan struct{} {
	if l.turn != nil {
		return nil
	}
	return l.client.over
}

// endOf is why the session did not open.
func (l *loop) endOf(err error) error {
	if errors.Is(err, context.Canceled) {
		return ErrInterrupted
	}
	return interrupted(l.ctx, err)
}

// begin runs something that ends later, and that Ctrl+C stops.
func (l *loop) begin(stop context.CancelFunc, run func() error) {
	l.breaks = 0
	l.stop = stop
	turn := make(chan error, 1)
	l.turn = turn
	go func() { turn <- run() }()
}

// turnOver shows how what was running ended, and goes back to the line.
func (l *loop) turnOver(err error, opening bool) {
	l.turn = nil
	l.stop()
	switch {
	case opening && err == nil:
		l.greet()
	case err != nil && l.client.ended():
		l.finished, l.ending = true, err
		return
	case err != nil && err != ErrInterrupted && !errors.Is(err, context.Canceled):
		l.client.view.complain(err)
	}
	ahead := l.ahead
	l.ahead = nil
	l.breaks = 0
	l.draw()
	l.press(ahead)
}

// greet tells who is there.
func (l *loop) greet() {
	c := l.client
	name := "the agent"
	if info := c.info.AgentInfo; info != nil {
		name = printable.Line(info.Name + " " + info.Version)
	}
	c.view.say(dim(fmt.Sprintf("%s in %s, session %s. :help lists commands, Ctrl+D quits.",
		name, printable.Line(c.opts.Cwd), printable.Line(string(c.session)))))
}

// draw shows what can be typed now, if anything can.
func (l *loop) draw() {
	switch {
	case len(l.waiting) > 0:
		l.console.show(&l.form)
	case l.turn == nil:
		l.console.show(&l.editor)
	default:
		l.console.hide()
	}
}
