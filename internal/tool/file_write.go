package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

type fileWrite struct{}

type fileWriteArgs struct {
	ignored
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

func (fileWrite) Spec() Spec {
	return Spec{
		Name: "file_write",
		Description: "Writes a whole text file: creates it, with missing directories, or replaces what is in it. " +
			"To change a part of a file use file_edit.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "absolute, or relative to the working directory"},
				"content": {"type": "string", "description": "the complete new content"}
			},
			"required": ["path", "content"],
			"additionalProperties": false
		}`),
		Kind: KindEdit,
		Acts: true,
	}
}

func (w fileWrite) Prepare(ctx context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args fileWriteArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if args.Content == nil {
		return nil, errors.New(`the argument "content" is missing; send an empty string for an empty file`)
	}
	return env.prepareChange(ctx, w.Spec(), args.Path, func(f file) (string, error) {
		if isNotebook(args.Path) && *args.Content != "" {
			if err := wantNotebook(*args.Content); err != nil {
				return "", err
			}
		}
		return f.inItsForm(*args.Content), nil
	})
}

// inItsForm gives new content what the file has and models leave out: its line
// ends, where all of them are CRLF, and no second byte order mark.
func (f file) inItsForm(content string) string {
	if f.enc.bom != "" {
		content = strings.TrimPrefix(content, "\uFEFF")
	}
	if lf := unifyLines(f.text); len(lf.crlf) > 0 && !lf.mixed && !strings.Contains(content, "\r") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	return content
}

// prepareChange prepares a call that makes a file's text into what change
// returns.
func (e *Env) prepareChange(ctx context.Context, spec Spec, path string, change func(file) (string, error)) (*Call, error) {
	t, err := e.resolveFile(path)
	if err != nil {
		return nil, err
	}
	call, err := e.changeCall(ctx, spec, t, change)
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	return call, nil
}

func (e *Env) changeCall(ctx context.Context, spec Spec, t *fsroot.Target, change func(file) (string, error)) (*Call, error) {
	call := &Call{Kind: KindEdit, Subject: e.subject(spec), Close: func() { _ = t.Close() }}
	call.Subject.Paths = append(call.Subject.Paths, pathOf(t, true))
	if err := e.judge(call.Subject); err != nil {
		return nil, err
	}
	if !t.Root.Writable {
		return nil, fmt.Errorf("%q is in a directory that may only be read", e.display(t.Abs))
	}
	f, err := e.load(ctx, t)
	if err != nil {
		return nil, err
	}
	if f.exists && e.Reads.stale(t.Abs, f.text) {
		return nil, fmt.Errorf("%q has changed since you read it; read it again before changing it", e.display(t.Abs))
	}
	text, err := change(f)
	if err != nil {
		return nil, err
	}
	if limit := e.limits().FileBytes; int64(len(text)) > limit {
		return nil, fmt.Errorf("the new content is longer than the limit of %d bytes; write it in parts", limit)
	}
	call.Title = "Write " + e.display(t.Abs)
	call.Diff = &Diff{Path: t.Abs, NewText: text}
	call.Locations = []Location{{Path: t.Abs}}
	if f.exists {
		call.Title = "Edit " + e.display(t.Abs)
		call.Diff.OldText = &f.text
		call.Locations[0].Line = firstDifference(f.text, text)
	}
	call.Run = func(ctx context.Context, _ Sink) Result { return e.runChange(ctx, t, f, *call.Diff) }
	return call, nil
}

func (e *Env) runChange(ctx context.Context, t *fsroot.Target, f file, diff Diff) Result {
	if err := e.save(ctx, t, f, diff.NewText); err != nil {
		return failure(err)
	}
	e.Reads.note(t.Abs, diff.NewText)
	verb := "wrote"
	if !f.exists {
		verb = "created"
	}
	return Result{
		Text:    fmt.Sprintf("%s %s, %s", verb, e.display(t.Abs), lines(countLines(diff.NewText))),
		Content: []Content{{Diff: &diff}},
	}
}

// lines says a number of lines.
func lines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// firstDifference returns the line, from 1, where two texts part.
func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return lineOf(a, i)
}
