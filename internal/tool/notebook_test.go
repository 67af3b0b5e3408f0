package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// someNotebook is as Jupyter writes one: a list of lines for each source,
// indented by one blank, and a picture among the outputs.
const someNotebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# Say \"hello\"\n",
    "twice"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "hello\n"
     ]
    }
   ],
   "source": [
    "x = \"a\\n\"\n",
    "print('hello')"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {},
   "outputs": [],
   "source": "y = 1"
  }
 ],
 "metadata": {"kernelspec": {"name": "python3"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func TestNotebookEdits(t *testing.T) {
	for _, c := range []struct {
		name      string
		edits     []edit
		old, want string // what changes of the text, or the error
	}{
		{"plain source", []edit{{old: "print('hello')", new: "print(\"bye\")\nz = '\\t'"}}, `    "print('hello')"`, "    \"print(\\\"bye\\\")\\n\",\n    \"z = '\\\\t'\""},
		{"across lines", []edit{{old: "x = \"a\\n\"\nprint", new: "show"}}, "    \"x = \\\"a\\\\n\\\"\\n\",\n    \"print('hello')\"", "    \"show('hello')\""},
		{"line ends of another system", []edit{{old: "hello\"\r\ntwice", new: "hi\"\r\nonce"}}, "    \"# Say \\\"hello\\\"\\n\",\n    \"twice\"", "    \"# Say \\\"hi\\\"\\n\",\n    \"once\""},
		{"one string", []edit{{old: "y = 1", new: "y = 2\n"}}, `"source": "y = 1"`, `"source": "y = 2\n"`},
		{"emptied", []edit{{old: "x = \"a\\n\"\nprint('hello')", new: ""}}, "[\n    \"x = \\\"a\\\\n\\\"\\n\",\n    \"print('hello')\"\n   ]", "[]"},
		{"JSON text", []edit{{old: `"twice"`, new: `"thrice"`}}, `"twice"`, `"thrice"`},
		{"metadata", []edit{{old: `"name": "python3"`, new: `"name": "ir"`}}, `"python3"`, `"ir"`},
		{"outputs cleared", []edit{{old: "\"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"hello\\n\"\n     ]\n    }\n   ]", new: `"outputs": []`}}, "\"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"hello\\n\"\n     ]\n    }\n   ]", `"outputs": []`},
		{"in order", []edit{{old: "y = 1", new: "y = 2"}, {old: "y = 2", new: "y = 3"}}, "y = 1", "y = 3"},

		{"ambiguous", []edit{{old: "hello", new: "bye"}}, "", "2 matches in the cells (cell 1, cell 2)"},
		{"broken JSON", []edit{{old: `"nbformat": 4,`, new: `"nbformat": 4`}}, "", "break the notebook: it is no valid JSON at line 39"},
		{"unescaped", []edit{{old: `    "twice"`, new: "    \"tw\nice\""}}, "", "escape quotes and line breaks"},
		{"no notebook left", []edit{{old: `"cells"`, new: `"sells"`}}, "", "no array \"cells\""},
		{"a cell without source", []edit{{old: `"source": "y`, new: `"text": "y`}}, "", "objects with a source"},
		{"an output made up", []edit{{old: `      "hello\n"`, new: `      "1000\n"`}}, "", "only running it may do that"},
		{"one of two fails", []edit{{old: "y = 1", new: "y = 2"}, {old: "nowhere", new: ""}}, "", "edit 2 of 2: old_text has 0 matches"},
	} {
		got, err := editedNotebook(someNotebook, c.edits)
		if c.old == "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		want := strings.Replace(someNotebook, c.old, c.want, 1)
		if want == someNotebook {
			t.Fatalf("%s: the test changes nothing", c.name)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
}

// TestNotebookReplaceAll changes all sources and leaves the outputs alone.
func TestNotebookReplaceAll(t *testing.T) {
	got, err := editedNotebook(someNotebook, []edit{{old: "hello", new: "bye", all: true}})
	want := strings.ReplaceAll(someNotebook, "hello", "bye")
	want = strings.Replace(want, `      "bye\n"`, `      "hello\n"`, 1)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestNotebookOnOneLine(t *testing.T) {
	const before = `{"cells":[{"cell_type":"code","source":["a\n", "b"],"outputs":[]},{"source":[],"cell_type":"raw"}],"nbformat":4}`
	got, err := editedNotebook(before, []edit{{old: "b", new: "c\nd"}})
	if want := strings.Replace(before, `"b"]`, `"c\n", "d"]`, 1); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

// TestNotebookOfManyCells: all of many cells are edited, and the notebook does
// not grow without end.
func TestNotebookOfManyCells(t *testing.T) {
	cells := strings.TrimSuffix(strings.Repeat(`{"source":"a"},`, 500), ",")
	got, err := editedNotebook(`{"cells":[`+cells+`]}`, []edit{{old: "a", new: "b", all: true}})
	if want := `{"cells":[` + strings.ReplaceAll(cells, `"a"`, `"b"`) + `]}`; got != want || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err = editedNotebook(`{"cells":[`+cells+`]}`, []edit{{old: "a", new: strings.Repeat("b", 1<<20), all: true}})
	if !errors.Is(err, errGrown) {
		t.Errorf("grown: %v", err)
	}
}

// TestNotebookTools: file_edit and file_write keep a notebook one, and mend one
// that is broken.
func TestNotebookTools(t *testing.T) {
	env := newEnv(t, map[string]string{"a.ipynb": someNotebook, "broken.ipynb": `{"cells": [}`, "b.json": `{"cells": 1}`})
	path := filepath.Join(env.Cwd, "a.ipynb")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	run(t, env, fileEdit{}, `{"path":"a.ipynb","old_text":"y = 1","new_text":"y = \"é\""}`)
	if got, want := readBack(t, path), strings.Replace(someNotebook, "y = 1", `y = \"é\"`, 1); got != want {
		t.Errorf("edited to %s", got)
	}
	refuses(t, env, fileEdit{}, `{"path":"a.ipynb","old_text":"\"nbformat\": 4,","new_text":"\"nbformat\": ,"}`, "would break the notebook")
	refuses(t, env, fileWrite{}, `{"path":"a.ipynb","content":"print(1)"}`, "would break the notebook")
	refuses(t, env, fileWrite{}, `{"path":"new.ipynb","content":"{\"cells\":{}}"}`, "no array \"cells\"")
	run(t, env, fileWrite{}, `{"path":"new.ipynb","content":"{\"cells\":[],\"nbformat\":4}"}`)
	run(t, env, fileEdit{}, `{"path":"broken.ipynb","old_text":"[}","new_text":"[]}"}`)
	run(t, env, fileEdit{}, `{"path":"b.json","old_text":"1}","new_text":""}`)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// FuzzNotebook: an edit of a notebook is refused or leaves a notebook, with
// outputs it had.
func FuzzNotebook(f *testing.F) {
	f.Add(someNotebook, "hello", "bye\n\"", true)
	f.Add(someNotebook, `"nbformat": 4`, "", false)
	f.Add(`{"cells":[{"source":[ ]}]}`, "x", "y", false)
	f.Add(`{"cells":[{"source":["\ud83c"]}]}`, "x", "y", false)
	f.Add(`{"cells":[{"source":"a","source":"a"}]}`, "a", "", true)
	f.Add(someNotebook, "", "x", false)
	f.Fuzz(func(t *testing.T, text, old, repl string, all bool) {
		if _, err := decodeText([]byte(text + old + repl)); err != nil {
			return
		}
		got, err := editedNotebook(text, []edit{{old: old, new: repl, all: all}})
		if err != nil {
			return
		}
		if _, err := readNotebook(text); err != nil {
			return // it was none
		}
		if _, err := readNotebook(got); err != nil {
			t.Errorf("%q by %q, %q became %q: %v", text, old, repl, got, err)
		}
		if !jsontext.Value(got).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			t.Errorf("%q is no JSON", got)
		}
	})
}
