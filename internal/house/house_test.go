package house_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/grapnel-ai/grapnel"

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath string
	Dir        string
	Name       string
	GoFiles    []string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Name,GoFiles,Imports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// TestEveryPackageHasADoc keeps a package comment on every package.
func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) > 0 && !documented(t, p) {
			t.Errorf("package %s has no package comment: say what it holds", p.ImportPath)
		}
	}
}

func documented(t *testing.T, p goPackage) bool {
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil && len(strings.TrimSpace(f.Doc.Text())) > 20 {
			return true
		}
	}
	return false
}

// The rooms of the house, by import path below the module.
var (
	surfaces = []string{"internal/serve", "internal/gateway", "internal/console", "internal/chat", "internal/oneshot", "internal/bridge"}
	drivers  = []string{"internal/native", "internal/harness"}
)

// arrow forbids imports: what is in from may not import what is in to, but for
// except. Names cover the packages below them.
type arrow struct {
	from, to, except []string
	why              string
}

var forbidden = []arrow{
	{[]string{"acp"}, []string{"internal"}, []string{"acp/internal"}, "acp is a library for everyone"},
	{surfaces, drivers, nil, "surfaces know sessions, not what runs them"},
	{drivers, surfaces, nil, "drivers know sessions, not who watches"},
	{
		[]string{"internal/session"},
		[]string{"internal"},
		[]string{"internal/session", "internal/ledger/memory", "internal/ledger/ledgertest"},
		"the domain depends on nothing around it",
	},
	{
		[]string{"internal/door"},
		append([]string{"internal/ledger", "acp"}, surfaces...),
		[]string{"internal/ledger/filelock"},
		"the door knows credentials, not sessions",
	},
	{[]string{"internal/policy"}, []string{"internal", "acp"}, []string{"internal/policy"}, "policy is pure"},
	{
		[]string{"acp", "internal"},
		[]string{"internal/app", "internal/cli"},
		[]string{"internal/app", "internal/cli"},
		"app wires everyone, nobody knows app",
	},
	{[]string{"internal/app"}, []string{"internal/cli"}, nil, "cli parses and calls app"},
	{
		[]string{"internal/acpclient", "internal/hands", "internal/lineedit", "internal/readproof"},
		[]string{"internal/ledger", "internal/session", "internal/serve", "internal/native", "internal/config"},
		nil,
		"a client knows an agent by the protocol only",
	},
	{[]string{"internal/bridge", "cmd/grapnel-acp-bridge"}, []string{"internal/ledger"}, nil, "the bridge links no store"},
}

// TestImportArrows keeps the rules of the house (ARCHITECTURE.md).
func TestImportArrows(t *testing.T) {
	for _, p := range listPackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module+"/")
			for _, a := range forbidden {
				if ours && within(from, a.from) && within(to, a.to) && !allowed(from, to, a) {
					t.Errorf("%s imports %s: %s", from, to, a.why)
				}
			}
		}
	}
}

func allowed(from, to string, a arrow) bool {
	return within(to, a.except) || (within(from, a.except) && within(from, []string{"internal/app", "internal/cli"}))
}

func within(path string, rooms []string) bool {
	for _, r := range rooms {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}

// TestSessionIsPure keeps files, networks and SQL out of the domain.
func TestSessionIsPure(t *testing.T) {
	impure := map[string]bool{"os": true, "net": true, "net/http": true, "database/sql": true, "os/exec": true, "path/filepath": true}
	for _, p := range listPackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		if !within(from, []string{"internal/session", "internal/policy"}) || strings.HasSuffix(from, "test") {
			continue
		}
		for _, imported := range p.Imports {
			if impure[imported] {
				t.Errorf("%s imports %s: the domain is values and goroutines only", from, imported)
			}
		}
	}
}

// TestBridgeIsSmall keeps the store, the agent and the command line out of the
// program that only bridges.
func TestBridgeIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/grapnel-acp-bridge").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for p := range strings.Lines(string(out)) {
		p = strings.TrimSpace(p)
		for _, banned := range []string{"sqlite", "spf13/cobra", "charm.land", "VictoriaMetrics", module + "/internal/native", module + "/internal/serve", module + "/internal/app"} {
			if strings.Contains(p, banned) {
				t.Errorf("grapnel-acp-bridge links %s", p)
			}
		}
	}
}
