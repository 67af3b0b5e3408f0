package tool

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// maxListed is how many names one listing shows.
const maxListed = 1000

type listDir struct{}

type listDirArgs struct {
	ignored
	Path string `json:"path"`
}

func (listDir) Spec() Spec {
	return Spec{
		Name:        "list_dir",
		Description: "Lists the names in one directory, sorted. Directories end in a slash, links in @.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "the directory; the working directory when absent"}
			},
			"additionalProperties": false
		}`),
		Kind:     KindRead,
		ReadOnly: true,
	}
}

func (l listDir) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args listDirArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	t, err := env.resolveDir(args.Path)
	if err != nil {
		return nil, err
	}
	call := env.dirCall(l.Spec(), t)
	call.Title = "List " + env.display(t.Abs)
	call.Run = func(context.Context, Sink) Result {
		entries, more, err := t.ReadDir(maxListed)
		if err != nil {
			return failure(err)
		}
		return listing(entries, more)
	}
	return call, nil
}

// resolveDir resolves a path that must name a directory; empty is the working
// directory.
func (e *Env) resolveDir(path string) (*fsroot.Target, error) {
	path = cmp.Or(path, e.Cwd)
	if e.Away != nil {
		return e.Away.Resolve(path, e.Cwd)
	}
	t, err := e.Roots.Resolve(path)
	if err != nil {
		return nil, err
	}
	if t.IsDir() {
		return t, nil
	}
	_ = t.Close()
	if !t.Exists {
		return nil, fmt.Errorf("the directory %q does not exist", path)
	}
	return nil, fmt.Errorf("%q is a file, not a directory", path)
}

// dirCall begins a call that reads below a directory.
func (e *Env) dirCall(spec Spec, t *fsroot.Target) *Call {
	call := &Call{
		Kind:      spec.Kind,
		Locations: []Location{{Path: t.Abs}},
		Subject:   e.subject(spec),
		Close:     func() { _ = t.Close() },
	}
	call.Subject.Paths = append(call.Subject.Paths, pathOf(t, false))
	return call
}

func listing(entries []fsroot.DirEntry, more bool) Result {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name)
		switch {
		case e.Type.IsDir():
			b.WriteByte('/')
		case e.Type&fs.ModeSymlink != 0:
			b.WriteByte('@')
		}
		b.WriteByte('\n')
	}
	if len(entries) == 0 {
		return Result{Text: "[the directory is empty]"}
	}
	content := []Content{{Text: fenced(b.String())}}
	if more {
		fmt.Fprintf(&b, "[only the first %d names are shown; use glob_search to find others]", len(entries))
	}
	return Result{Text: b.String(), Content: content}
}
