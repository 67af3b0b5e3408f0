package main

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // to change stores behind grapnel's back
)

// sqlCmd runs a statement on a database.
func sqlCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(err)
	ts.Check(db.Close())
}

// freeze DIR takes the right to write from a directory and all in it, until the
// script ends or thaws it.
func freeze(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeze DIR")
	}
	dir := ts.MkAbs(args[0])
	if os.Getuid() == 0 {
		undo, err := mountReadOnly(dir)
		ts.Check(err)
		ts.Defer(undo)
		return
	}
	ts.Check(changeModes(dir, func(m fs.FileMode) fs.FileMode { return m &^ 0o222 }))
	ts.Defer(func() { _ = changeModes(dir, func(m fs.FileMode) fs.FileMode { return m | 0o200 }) })
}

func changeModes(dir string, change func(fs.FileMode) fs.FileMode) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Type()&^fs.ModeDir != 0 {
			return nil
		}
		return os.Chmod(path, change(info.Mode().Perm()))
	})
}

// canFreeze reports whether freeze works for this user on this system.
func canFreeze() bool {
	if os.Getuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "grapnel-freeze-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	undo, err := mountReadOnly(dir)
	if err != nil {
		return false
	}
	undo()
	return true
}
