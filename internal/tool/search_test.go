package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func searchEnv(t *testing.T) *Env {
	return newEnv(t, map[string]string{
		"main.go":      "package main\n\nfunc main() {}\r\n",
		"a/b/util.go":  "package b // Main\n",
		"a/readme.md":  "# main\n",
		".git/main.go": "main\n",
		"bin":          "main\x00main\n",
		"last":         "no newline main",
		"你/好.go":       "你好 main\n",
		"long":         strings.Repeat("x", 1000) + "main\n",
		"latin":        "caf\xe9 main\n",
	})
}

func TestListDir(t *testing.T) {
	env := searchEnv(t)
	if got, want := run(t, env, listDir{}, ``).Text, ".git/\na/\nbin\nlast\nlatin\nlong\nmain.go\n你/\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got := run(t, env, listDir{}, `{"path":"a/b"}`).Text; got != "util.go\n" {
		t.Errorf("got %q", got)
	}
	empty := newEnv(t, nil)
	if got := run(t, empty, listDir{}, ``).Text; got != "[the directory is empty]" {
		t.Errorf("got %q", got)
	}
	refuses(t, env, listDir{}, `{"path":"main.go"}`, "is a file")
	refuses(t, env, listDir{}, `{"path":"nope"}`, "does not exist")
	refuses(t, env, listDir{}, `{"path":"/"}`, "outside")
	for i := range maxListed + 1 {
		writeFile(t, filepath.Join(empty.Cwd, fmt.Sprint("f", i)), "")
	}
	if got := run(t, empty, listDir{}, ``).Text; !strings.Contains(got, "only the first 1000 names") {
		t.Errorf("got %q", got[len(got)-100:])
	}
}

func TestGlobSearch(t *testing.T) {
	env := searchEnv(t)
	for input, want := range map[string]string{
		`{"pattern":"*.go"}`:                     "a/b/util.go\nmain.go\n你/好.go",
		`{"pattern":"a/**"}`:                     "a/b/util.go\na/readme.md",
		`{"pattern":"**/*.{md,txt}"}`:            "a/readme.md",
		`{"pattern":"*.go","path":"a"}`:          "a/b/util.go",
		`{"pattern":"` + env.Cwd + `/a/*/*.go"}`: "a/b/util.go",
		`{"pattern":"` + env.Cwd + `/main.go"}`:  "main.go",
		`{"pattern":"*.rs"}`:                     "no file matches",
	} {
		if got := run(t, env, globSearch{}, input).Text; got != want {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
	}
	refuses(t, env, globSearch{}, `{}`, "pattern is empty")
	refuses(t, env, globSearch{}, `{"pattern":"/etc/*"}`, "outside")
	env.Limits.Matches = 2
	if got := run(t, env, globSearch{}, `{"pattern":"*.go"}`).Text; !strings.Contains(got, "only the first 2 are shown") {
		t.Errorf("got %q", got)
	}
}

func TestContentSearch(t *testing.T) {
	env := searchEnv(t)
	for input, want := range map[string]string{
		`{"pattern":"main\\b"}`: "a/readme.md:1: # main\nlast:1: no newline main\nlatin:1: caf\uFFFD main\n" +
			"main.go:1: package main\nmain.go:3: func main() {}\n你/好.go:1: 你好 main",
		`{"pattern":"\\}$"}`:                                  "main.go:3: func main() {}",
		`{"pattern":"^package","glob":"*.go"}`:                "a/b/util.go:1: package b // Main\nmain.go:1: package main",
		`{"pattern":"// MAIN","ignore_case":true,"path":"a"}`: "a/b/util.go:1: package b // Main",
		`{"pattern":"package","path":"main.go"}`:              "main.go:1: package main",
		`{"pattern":"package","path":"a","glob":"b/*.go"}`:    "a/b/util.go:1: package b // Main",
		`{"pattern":"nowhere"}`:                               "nothing matches",
	} {
		got := run(t, env, contentSearch{}, input).Text
		if input == `{"pattern":"main\\b"}` {
			got = withoutLine(got, "long:1: ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", input, got, want)
		}
	}
	refuses(t, env, contentSearch{}, `{}`, `"pattern" is missing`)
	refuses(t, env, contentSearch{}, `{"pattern":"("}`, "not a regular expression")
	refuses(t, env, contentSearch{}, `{"pattern":"a","path":"nope"}`, "does not exist")
	refuses(t, env, contentSearch{}, `{"pattern":"a","glob":"[a"}`, "not well formed")
	env.Limits.Matches = 1
	if got := run(t, env, contentSearch{}, `{"pattern":"main","path":"main.go"}`).Text; !strings.Contains(got, "only the first 1") {
		t.Errorf("got %q", got)
	}
}

// withoutLine drops a line that is long, after checking that it was cut.
func withoutLine(text, prefix string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, prefix) || len(line) > maxHitBytes+40 {
			kept = append(kept, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(kept, "\n")
}

func TestSearchEndsWithItsContext(t *testing.T) {
	env := searchEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range []*Call{
		prepare(t, env, globSearch{}, `{"pattern":"*"}`),
		prepare(t, env, contentSearch{}, `{"pattern":"."}`),
	} {
		if res := call.Run(ctx, &recorder{}); !res.IsError {
			t.Errorf("result %+v", res)
		}
	}
}
