package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestSnippetsStart checks what the documents tell people to put into their
// editors, starts what it would start, and opens a session with it.
func TestSnippetsStart(t *testing.T) {
	for lang, launches := range map[string]func(*testing.T, block) [][]string{
		"json": launchesOfJSON, "lua": launchesOfLua, "elisp": launchesOfElisp,
	} {
		for _, b := range blocksIn(t, lang) {
			t.Run(b.page+"/"+lang, func(t *testing.T) {
				t.Parallel()
				list := launches(t, b)
				if len(list) == 0 {
					t.Fatalf("%s:%d: nothing in it starts grapnel:\n%s", b.page, b.line, b.text)
				}
				w := newWorld(t)
				for _, argv := range list {
					if name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe"); name != "grapnel" {
						t.Errorf("%s:%d starts %q", b.page, b.line, argv)
						continue
					}
					w.open(t, w.reachable(t, argv[1:]))
				}
			})
		}
	}
}

// launchesOfJSON finds {"command": …, "args": […]} and {"argv": […]} anywhere.
func launchesOfJSON(t *testing.T, b block) [][]string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(b.text), &v); err != nil {
		t.Fatalf("%s:%d: %v", b.page, b.line, err)
	}
	return launchesIn(v)
}

func launchesIn(v any) [][]string {
	object, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if argv := texts(object["argv"]); len(argv) > 0 {
		return [][]string{argv}
	}
	if command, ok := object["command"].(string); ok {
		return [][]string{append([]string{command}, texts(object["args"])...)}
	}
	var list [][]string
	for _, member := range object {
		list = append(list, launchesIn(member)...)
	}
	return list
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Ways of naming a command in Lua and Emacs Lisp.
var (
	luaList   = regexp.MustCompile(`= \{ ("grapnel"(?:, "[^"]*")*) \}`)
	luaFields = regexp.MustCompile(`command = ("grapnel"),\s*args = \{ ([^}]*) \}`)
	elispPair = regexp.MustCompile(`:command ("grapnel")\s+:command-params '\(([^)]*)\)`)
	quoted    = regexp.MustCompile(`"([^"]*)"`)
)

func launchesOfLua(t *testing.T, b block) [][]string {
	t.Helper()
	balanced(t, b, "--")
	return launchesBy(b, luaList, luaFields)
}

func launchesOfElisp(t *testing.T, b block) [][]string {
	t.Helper()
	balanced(t, b, ";")
	return launchesBy(b, elispPair)
}

func launchesBy(b block, ways ...*regexp.Regexp) [][]string {
	var list [][]string
	for _, way := range ways {
		for _, m := range way.FindAllStringSubmatch(b.text, -1) {
			var argv []string
			for _, q := range quoted.FindAllStringSubmatch(strings.Join(m[1:], " "), -1) {
				argv = append(argv, q[1])
			}
			list = append(list, argv)
		}
	}
	return list
}

// balanced checks brackets and quotes; comments run from a mark to the line's
// end. No parser of these languages is at hand, and this is what copying
// breaks.
func balanced(t *testing.T, b block, comment string) {
	t.Helper()
	closing := map[rune]rune{'(': ')', '[': ']', '{': '}'}
	var open []rune
	for n, line := range strings.Split(b.text, "\n") {
		inText := false
		for i, r := range line {
			if !inText && strings.HasPrefix(line[i:], comment) {
				break
			}
			switch {
			case r == '"':
				inText = !inText
			case inText:
			case closing[r] != 0:
				open = append(open, closing[r])
			case r == ')' || r == ']' || r == '}':
				if len(open) == 0 || open[len(open)-1] != r {
					t.Fatalf("%s:%d: %q closes nothing", b.page, b.line+n, r)
				}
				open = open[:len(open)-1]
			}
		}
		if inText {
			t.Errorf("%s:%d: a quote is not closed", b.page, b.line+n)
		}
	}
	if len(open) > 0 {
		t.Errorf("%s:%d: %d brackets are not closed", b.page, b.line, len(open))
	}
}

// TestConfigurationsAreValid checks every piece of config.toml in the documents.
func TestConfigurationsAreValid(t *testing.T) {
	w := newWorld(t)
	for _, b := range blocksIn(t, "toml") {
		name := "config.toml"
		if strings.HasPrefix(b.text, "[[price]]") {
			name = filepath.Join("data", "prices.toml")
			if err := os.MkdirAll(filepath.Join(w.home, ".grapnel", "data"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(w.home, ".grapnel", name), b.text)
		if out, err := w.grapnel(t, "config", "check"); err != nil {
			t.Errorf("%s:%d: %v\n%s", b.page, b.line, err, out)
		}
	}
}

// TestGoBlocksAreExamples holds the Go code of the library's page against the
// examples that are compiled and run.
func TestGoBlocksAreExamples(t *testing.T) {
	var names []string
	for _, pattern := range []string{"example_*_test.go", "*/example_test.go"} {
		found, err := filepath.Glob(filepath.Join(root, "acp", pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	var examples strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		examples.Write(text)
	}
	for _, b := range blocksIn(t, "go") {
		if !strings.Contains(examples.String(), b.text) {
			t.Errorf("%s:%d: no example has this code:\n%s", b.page, b.line, b.text)
		}
	}
}

// TestBlocksAreChecked knows every language, so that no block goes unchecked.
func TestBlocksAreChecked(t *testing.T) {
	checked := map[string]bool{"sh": true, "json": true, "jsonl": true, "lua": true, "elisp": true, "toml": true, "go": true, "python": true, "markdown": true, "": true}
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if !checked[b.lang] {
				t.Errorf("%s:%d: blocks of %q are not checked by any test", b.page, b.line, b.lang)
			}
		}
	}
}
