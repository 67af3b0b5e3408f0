package main

import (
	"database/sql"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // to change stores behind grapnel's back

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
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
// script ends.
func freeze(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeze DIR")
	}
	undo, err := fieldtest.Freeze(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(undo)
}
