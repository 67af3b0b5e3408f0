package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxHitBytes is how much of a matching line is shown.
const maxHitBytes = 300

type contentSearch struct{}

type contentSearchArgs struct {
	ignored
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Glob       string `json:"glob"`
	IgnoreCase flag   `json:"ignore_case"`
}

func (contentSearch) Spec() Spec {
	return Spec{
		Name: "content_search",
		Description: "Searches the content of text files line by line with a regular expression (RE2 syntax: no look-around, " +
			"no back references) and returns path:line: text. .git and binary files are left out.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "description": "regular expression"},
				"path": {"type": "string", "description": "file or directory to search; the working directory when absent"},
				"glob": {"type": "string", "description": "only files whose path matches, like **/*.go"},
				"ignore_case": {"type": "boolean"}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Kind:     KindSearch,
		ReadOnly: true,
	}
}

func (s contentSearch) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args contentSearchArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	search, err := newSearch(args)
	if err != nil {
		return nil, err
	}
	if args.Path == "" {
		args.Path = env.Cwd
	}
	t, err := env.Roots.Resolve(args.Path)
	if err != nil {
		return nil, err
	}
	if !t.Exists {
		_ = t.Close()
		return nil, fmt.Errorf("%q does not exist", args.Path)
	}
	call := env.dirCall(s.Spec(), t)
	call.Title = fmt.Sprintf("Search for %s in %s", printable.Clip(args.Pattern, 80), env.display(t.Abs))
	call.Run = func(ctx context.Context, _ Sink) Result { return search.run(ctx, env, t) }
	return call, nil
}

// search is a content search ready to run.
type search struct {
	re    *regexp.Regexp
	files *glob // nil takes every file
}

func newSearch(args contentSearchArgs) (*search, error) {
	if args.Pattern == "" {
		return nil, errors.New(`the argument "pattern" is missing`)
	}
	expr := args.Pattern
	if args.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression: %w", err)
	}
	s := &search{re: re}
	if args.Glob != "" {
		s.files, err = newGlob(args.Glob)
	}
	return s, err
}

func (s *search) run(ctx context.Context, env *Env, t *fsroot.Target) Result {
	found := hits{limit: env.limits().Matches}
	var walk fsroot.WalkResult
	var err error
	if t.IsDir() {
		walk, err = env.Roots.Walk(ctx, t, fsroot.WalkOptions{}, func(e *fsroot.Entry) error {
			if !e.Type.IsRegular() || s.files != nil && !s.files.match(e.Path) {
				return nil
			}
			return s.file(env, filepath.Join(t.Abs, filepath.FromSlash(e.Path)), e.Open, &found)
		})
	} else {
		err = s.file(env, t.Abs, t.Open, &found)
	}
	if err != nil && !errors.Is(err, fsroot.ErrStop) {
		return failure(err)
	}
	return found.result(env, walk, "nothing matches")
}

// file searches one file. One that cannot be read is passed over, like a
// binary one: the search is for what there is to find.
func (s *search) file(env *Env, abs string, open func() (*os.File, error), found *hits) error {
	f, err := open()
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, env.limits().FileBytes))
	if err != nil || bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
		return nil
	}
	name := env.display(abs)
	for n := 1; len(data) > 0; n++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if line = bytes.TrimSuffix(line, []byte("\r")); s.re.Match(line) {
			text := printable.Clip(string(line), maxHitBytes)
			if err := found.add(fmt.Sprintf("%s:%d: %s", name, n, text)); err != nil {
				return err
			}
		}
		data = rest
	}
	return nil
}
