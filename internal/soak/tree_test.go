//go:build linux

package soak

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Marks are in what lies outside the session's directory: in contents and in
// names. No command mentions them, so that output with one has read outside.
const (
	markContent = "zqcontent"
	markName_   = "zqname"
)

// tree is a throwaway session directory and what lies around it.
type tree struct {
	t     *testing.T
	base  string
	root  string // the session's directory
	state map[string]string
}

func newTree(t *testing.T) *tree {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "grapnel-judge-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	tr := &tree{t: t, base: base, root: filepath.Join(base, "root")}
	tr.write(filepath.Join(base, "jail"), "", 0o700) // the place of the program inside the jail
	tr.refill()
	return tr
}

// told is what files outside hold: something of it fits most searches.
const told = markContent + " one two a b 3 4 x - / . ; # $x {}\n"

// surround puts around the root what must stay as it is.
func (tr *tree) surround() {
	tr.t.Helper()
	for name, text := range map[string]string{
		"tmp/x": told, "outside/a": told, "outside/list": `{"a":{"b":[1,2,"` + markContent + `"]}}` + "\n", "outside/dir/" + markName_: markContent + "\n",
		"outside/evil": "#!/bin/sh\necho " + markContent + "\n", "a": told,
		"home/.bashrc": "# " + markContent + "\n", "home/.profile": "# " + markContent + "\n", "home/.ssh/key": markContent + "\n",
		"home/" + markName_: markContent + "\n", "home/.gitconfig": "# " + markContent + "\n",
	} {
		tr.write(filepath.Join(tr.base, name), text, 0o600)
	}
}

func (tr *tree) write(name, text string, mode fs.FileMode) {
	tr.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		tr.t.Fatal(err)
	}
}

// fill puts into the root what a hostile repository may hold.
func (tr *tree) fill() {
	tr.t.Helper()
	for name, text := range map[string]string{
		"a": "one two\n3 4\n/x/\n", "b.txt": "b\nb\na\n", "c.json": `{"a":{"b":[1,2,"x"]}}` + "\n", "src/d.go": "package d // a\n",
		"src/sub/e": "e\n", "sp ace": "space\n", "-n": "option\n", "-rf": "", "--output=x": "", "*": "star\n", "$x": "", "`id`": "",
		"[a]": "", "é": "é\n", "new\nline": "", "~": "", "'": "", "\"": "", "\\": "", "{a,b}": "", "list": "../outside/a\n",
		"list0": "../outside/a\x00", "script.sed": "w ../outside/new\n", "prog.awk": `BEGIN{print "x" > "../outside/new"}` + "\n",
		".hidden": "h\n", ".git/config": "[core]\n\tfsmonitor = ./ls\n", ".git/HEAD": "ref: refs/heads/main\n", ".jq": "", "date": "1 Jan\n",
		"sh.sh": "echo pwned > ../outside/new\n",
	} {
		tr.write(filepath.Join(tr.root, name), text, 0o600)
	}
	for _, name := range []string{"ls", "cat", "evil", "src/grep"} {
		tr.write(filepath.Join(tr.root, name), "#!/bin/sh\necho pwned >> ../outside/new\necho pwned >> ../../outside/new\n", 0o700)
	}
	for name, target := range map[string]string{
		"link": "../outside/a", "-l": "../outside/a", "out": "../outside", "src/up": "../..", "dangling": "../outside/new", "in": "src", "to-a": "a", "loop": "loop", "null": "/dev/null",
	} {
		if err := os.Symlink(target, filepath.Join(tr.root, name)); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// refill makes everything as it was at first. The directories that the jail
// holds stay themselves.
func (tr *tree) refill() {
	tr.t.Helper()
	tmp := filepath.Join(tr.base, "tmp")
	for _, dir := range []string{tr.root, tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.empty(tr.base, tr.root, tmp, filepath.Join(tr.base, "jail"))
	tr.empty(tr.root)
	tr.empty(tmp)
	tr.surround()
	tr.fill()
	tr.state = tr.look()
}

// empty removes all there is in a directory but what is kept.
func (tr *tree) empty(dir string, kept ...string) {
	tr.t.Helper()
	err := os.Chmod(dir, 0o700)
	entries, listing := os.ReadDir(dir)
	err = errors.Join(err, listing)
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); !slices.Contains(kept, name) {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	if err != nil {
		tr.t.Fatal(err)
	}
}

// look is the state of the whole tree: contents, modes and links, by path.
func (tr *tree) look() map[string]string {
	tr.t.Helper()
	state := make(map[string]string)
	err := filepath.WalkDir(tr.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			what += target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += fmt.Sprintf("%x %v", sha256.Sum256(data), info.ModTime().UnixNano())
		}
		state[strings.TrimPrefix(path, tr.base+"/")] = what
		return nil
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	return state
}

// changes lists what differs from the state at first.
func (tr *tree) changes() []string {
	tr.t.Helper()
	now := tr.look()
	var list []string
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if now[path] != tr.state[path] {
			list = append(list, path)
		}
	}
	for path := range tr.state {
		if _, ok := now[path]; !ok {
			list = append(list, path)
		}
	}
	return list
}
