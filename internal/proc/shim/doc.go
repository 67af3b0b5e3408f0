// Package shim is the small program that stands between us and every child: it
// keeps the child's whole tree of processes together, ends it when asked or
// when we die for whatever reason, and passes on how the child ended.
//
// It is not a binary of its own. A binary that imports this package becomes the
// shim when it is executed again with [Marker] as its name: an init function
// takes over before anything else of the program is set up. So that the init
// really comes early and stays small, the package imports only os, syscall and
// time, which os needs anyway, and procfs, which imports os alone.
//
// The shim inherits a pipe on descriptor [ControlFD] whose other end only we
// hold. One byte asks for an end ([Stop], [Kill]); end of file means we are
// gone. A parent-death signal would not do: it fires when the thread that
// forked ends, and not at all across some privilege changes. On descriptor
// [StatusFD] the shim reports one line each: "started PID" or "failed ERRNO",
// then "exited CODE" or "signaled SIGNAL", after "left N" when N processes
// could not be killed.
//
// Where the child is to live in a control group, the shim puts it there, kills
// the group before it looks for what is left of the tree, and removes it.
package shim

import "time"

// Marker is the argv[0] that turns the binary into the shim. The arguments
// after it are the grace in milliseconds, how many descriptors after StatusFD
// are the child's, the directory of its control group or nothing, the path to
// execute and the argv.
const Marker = "grapnel-shim"

// The descriptors the shim is started with, beside the child's 0, 1 and 2.
const (
	ControlFD = 3
	StatusFD  = 4
)

// The bytes understood on ControlFD.
const (
	Stop = 't' // SIGTERM, then SIGKILL when the grace is over
	Kill = 'k' // SIGKILL at once
)

const (
	// orphanGrace bounds the grace once we are dead: nobody is left to read
	// what the tree says, and it must be gone within a second.
	orphanGrace = 300 * time.Millisecond
	// giveUp is how long a tree may withstand SIGKILL (a process stuck in the
	// kernel, or one of another user) before the shim reports it and leaves.
	giveUp = 5 * time.Second
	// settle is how long the kernel may take to tell us that the last
	// descendant is reaped before we go looking for it.
	settle = time.Millisecond
	// groupDies is how long a control group may take to die before the tree is
	// looked at process by process.
	groupDies = 100 * time.Millisecond
	// killAgain is the pause between two sweeps of a tree that is dying.
	killAgain = 10 * time.Millisecond
)
