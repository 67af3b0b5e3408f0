package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxReadLines is how many lines are shown when the model names no limit.
const maxReadLines = 2000

type fileRead struct{}

type fileReadArgs struct {
	ignored
	Path  string `json:"path"`
	Line  number `json:"line"`
	Limit number `json:"limit"`
}

func (fileRead) Spec() Spec {
	return Spec{
		Name: "file_read",
		Description: "Reads a text file and returns its content as it is. Long files come in part, with a note " +
			"that says which lines are shown; read on with line and limit.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "absolute, or relative to the working directory"},
				"line": {"type": "integer", "minimum": 1, "description": "first line, counted from 1"},
				"limit": {"type": "integer", "minimum": 1, "description": "how many lines, 2000 when absent"}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		Kind:     KindRead,
		ReadOnly: true,
	}
}

func (r fileRead) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args fileReadArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if args.Line < 0 || args.Limit < 0 {
		return nil, errors.New("line and limit count from 1")
	}
	t, err := env.resolveFile(args.Path)
	if err != nil {
		return nil, err
	}
	call := &Call{
		Title:     "Read " + env.display(t.Abs),
		Kind:      KindRead,
		Locations: []Location{{Path: t.Abs, Line: int(args.Line)}},
		Subject:   env.subject(r.Spec()),
		Run:       func(ctx context.Context, _ Sink) Result { return readFile(ctx, env, t, args) },
		Close:     func() { _ = t.Close() },
	}
	call.Subject.Paths = append(call.Subject.Paths, pathOf(t, false))
	return call, nil
}

func readFile(ctx context.Context, env *Env, t *fsroot.Target, args fileReadArgs) Result {
	f, err := env.load(ctx, t)
	if errors.Is(err, fsroot.ErrTooLarge) {
		return readLarge(ctx, env, t, args)
	}
	if err != nil {
		return failure(err)
	}
	if !f.exists {
		return failure(fmt.Errorf("%q does not exist", args.Path))
	}
	env.Reads.note(t.Abs, f.text)
	w := window{first: max(1, int(args.Line)), lines: int(args.Limit), bytes: env.limits().ModelBytes}
	rest := f.text
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		w.add(rest[:len(rest)-len(after)], len(line))
		rest = after
	}
	return w.result()
}

// window picks the lines to show out of a stream of them.
type window struct {
	first int // first line wanted, from 1
	lines int // how many; 0 means maxReadLines
	bytes int

	seen  int // lines met so far
	shown int
	cut   bool // the last line shown is not whole
	out   strings.Builder
}

// full reports that nothing more will be taken.
func (w *window) full() bool {
	return w.cut || w.shown == w.most() || w.out.Len() >= w.bytes
}

func (w *window) most() int {
	if w.lines > 0 {
		return w.lines
	}
	return maxReadLines
}

// add meets the next line, with its line end; length is without it.
func (w *window) add(line string, length int) {
	w.seen++
	if w.seen < w.first || w.full() {
		return
	}
	if room := w.bytes - w.out.Len(); len(line) > room {
		if w.shown > 0 {
			w.bytes = w.out.Len() // the next read starts with this line
			return
		}
		line, w.cut = printable.Head(line, min(room, length)), true
	}
	w.shown++
	w.out.WriteString(line)
}

func (w *window) result() Result {
	switch {
	case w.seen == 0:
		return Result{Text: "[the file is empty]"}
	case w.first > w.seen:
		return failure(fmt.Errorf("line %d is past the end: the file has %s", w.first, lines(w.seen)))
	}
	text := w.out.String()
	content := []Content{{Text: fenced(text)}}
	last := w.first + w.shown - 1
	if w.cut {
		text += fmt.Sprintf("\n[line %d is longer than can be shown; its start is above]", last)
	}
	if w.first > 1 || last < w.seen {
		note := fmt.Sprintf("\n[lines %d to %d of %d", w.first, last, w.seen)
		if last < w.seen {
			note += fmt.Sprintf("; read on with line=%d", last+1)
		}
		text += note + "]"
	}
	return Result{Text: text, Content: content}
}
