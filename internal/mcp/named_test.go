package mcp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamed(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{
		"server/package.json", "server/build/index.js", "venv/pyvenv.cfg", "venv/bin/python",
		"app/node_modules/one/dist/index.js", "app/node_modules/one/package.json", "bin/tool", "notes/a.txt", "loose.py",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(home, name) }
	for _, c := range []struct {
		argv []string
		want Named
	}{
		{[]string{"npx", "-y", "@scope/server", at("notes")}, Named{Writable: []string{at("notes")}}},
		{[]string{"node", at("server/build/index.js"), "--root=" + at("notes")}, Named{
			Readable: []string{at("server/build/index.js"), at("server")}, Writable: []string{at("notes")},
		}},
		{[]string{at("venv/bin/python"), "-m", "server"}, Named{Readable: []string{at("venv/bin/python"), at("venv")}}},
		{[]string{at("bin/tool"), at("notes/a.txt")}, Named{Readable: []string{at("bin/tool"), at("notes/a.txt"), at("notes")}}},
		{[]string{"node", at("app/node_modules/one/dist/index.js")}, Named{
			Readable: []string{at("app/node_modules/one/dist/index.js"), at("app/node_modules")},
		}},
		{[]string{"python3", at("loose.py")}, Named{Readable: []string{at("loose.py")}}},
		{[]string{"x", home, "/", filepath.Dir(home), at("absent"), "notes", "a=" + at("notes")}, Named{}},
	} {
		if d := cmp.Diff(c.want, named(c.argv, home)); d != "" {
			t.Errorf("%v: %s", c.argv, d)
		}
	}
}
