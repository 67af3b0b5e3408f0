package fieldtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reported are the reports from the field about permissions (P), tool calls (T),
// content (C), modes and models (M), MCP (V) and security (Z) that concern an
// agent, by the ids that tests carry in their names.
const reported = "P1 P2 P4 P5 P8 P10 T1 T4 T5 T6 C1 C2 C4 C7 M1 M4 V1 V3 Z3 Z4 Z5 Z8"

// TestIndex holds that every report has a test.
func TestIndex(t *testing.T) {
	ids := regexp.MustCompile(`^Test((?:[A-Z][0-9]+)+)[A-Z]`)
	one := regexp.MustCompile(`[A-Z][0-9]+`)
	have := make(map[string]bool)
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if m := ids.FindStringSubmatch(f.Name.Name); m != nil {
				for _, id := range one.FindAllString(m[1], -1) {
					have[id] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(reported) {
		if !have[id] {
			t.Errorf("no test has %s in its name", id)
		}
	}
}
