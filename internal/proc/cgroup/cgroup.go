// Package cgroup makes Linux control groups (version 2) below the one this
// process is in, to end all processes of a group at once, wherever they went.
//
// It works where that part of the hierarchy is ours to write: as root, in a
// container that has it writable, and in what systemd delegates to a user
// (services and scopes of the user's own manager). Elsewhere Open or the first
// group says why not. Nothing stays where no group is in use.
package cgroup

import "errors"

// Why there are no groups.
var (
	// ErrNone says that there is no hierarchy of version 2 to make a group in.
	ErrNone = errors.New("no control groups of version 2 are mounted")
	// ErrNoKill says that the kernel is older than 5.14.
	ErrNoKill = errors.New("the kernel cannot end a whole control group")
)

// prefix starts the name of every group of ours: "grapnel-<id>.<serial>".
const prefix = "grapnel-"
