package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

type globSearch struct{}

type globSearchArgs struct {
	ignored
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (globSearch) Spec() Spec {
	return Spec{
		Name: "glob_search",
		Description: "Finds files by name. ** stands for any number of directories, * and ? stay within one name, " +
			"[a-z] and {a,b} work. A pattern without a slash matches at any depth. .git is left out.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "description": "like **/*_test.go or src/{a,b}/*.ts"},
				"path": {"type": "string", "description": "where to look; the working directory when absent"}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Kind:     KindSearch,
		ReadOnly: true,
	}
}

func (s globSearch) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args globSearchArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	if args.Path == "" {
		args.Path, args.Pattern = splitAbsolute(args.Pattern)
	}
	pattern, err := newGlob(args.Pattern)
	if err != nil {
		return nil, err
	}
	t, err := env.resolveDir(args.Path)
	if err != nil {
		return nil, err
	}
	call := env.dirCall(s.Spec(), t)
	call.Title = fmt.Sprintf("Find %s in %s", printable.Clip(args.Pattern, 80), env.display(t.Abs))
	call.Run = func(ctx context.Context, _ Sink) Result { return findFiles(ctx, env, t, pattern) }
	return call, nil
}

// splitAbsolute splits an absolute pattern into the directory it starts with
// and the pattern below it.
func splitAbsolute(pattern string) (dir, rest string) {
	if !filepath.IsAbs(pattern) {
		return "", pattern
	}
	parts := strings.Split(filepath.ToSlash(pattern), "/")
	n := len(parts) - 1
	for i, p := range parts {
		if strings.ContainsAny(p, `*?[{\`) {
			n = min(n, i)
			break
		}
	}
	dir = strings.Join(parts[:n], "/")
	return dir + "/", "./" + strings.Join(parts[n:], "/")
}

func findFiles(ctx context.Context, env *Env, t *fsroot.Target, pattern *glob) Result {
	found := hits{limit: env.limits().Matches}
	walk, err := env.Roots.Walk(ctx, t, fsroot.WalkOptions{}, func(e *fsroot.Entry) error {
		if e.Type.IsDir() || !pattern.match(e.Path) {
			return nil
		}
		return found.add(env.display(filepath.Join(t.Abs, filepath.FromSlash(e.Path))))
	})
	if err != nil {
		return failure(err)
	}
	return found.result(env, walk, "no file matches")
}

// hits collects the lines of a search.
type hits struct {
	limit int
	lines []string
	more  bool
}

// add takes one line, or ends the walk when there are enough.
func (h *hits) add(line string) error {
	if len(h.lines) == h.limit {
		h.more = true
		return fsroot.ErrStop
	}
	h.lines = append(h.lines, line)
	return nil
}

func (h *hits) result(env *Env, walk fsroot.WalkResult, none string) Result {
	var notes strings.Builder
	if h.more {
		fmt.Fprintf(&notes, "\n[only the first %d are shown; narrow the pattern or the path]", h.limit)
	}
	if walk.Truncated {
		fmt.Fprintf(&notes, "\n[the search stopped after %d entries; narrow the path]", walk.Entries)
	}
	if walk.Unread > 0 {
		fmt.Fprintf(&notes, "\n[%d directories could not be read]", walk.Unread)
	}
	if len(h.lines) == 0 {
		return Result{Text: none + notes.String()}
	}
	text := bound(strings.Join(h.lines, "\n"), env.limits().ModelBytes)
	return Result{Text: text + notes.String(), Content: []Content{{Text: fenced(text)}}}
}
