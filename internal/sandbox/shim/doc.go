// Package shim confines itself and then becomes the command it is given: the
// last step of the Landlock rung of package sandbox.
//
// Like the shim of package proc it is not a binary of its own. A binary that
// imports this package becomes the shim when it is executed with [Marker] as
// its first argument, in an init function that runs before the rest of the
// program is set up, which is why it imports only os, runtime, syscall and
// unsafe.
//
// It inherits a Landlock ruleset on descriptor [RulesetFD] and a system call
// filter on descriptor [FilterFD], both made by a process that is not confined.
// Nothing is confined by halves: what cannot be done ends it with
// [ExitConfine] and a line on standard error.
package shim

// Self is the program to start for the shim: the binary that is running, also
// when its file has been replaced.
const Self = "/proc/self/exe"

// Marker is the argument that turns the binary into the shim. The arguments
// after it are the path of the program and its argv.
const Marker = "grapnel-confine"

// The descriptors the shim is started with.
const (
	RulesetFD = 3
	FilterFD  = 4
)

// ExitConfine is the exit code when the command could not be confined, as
// shells have it for a program that cannot be executed.
const ExitConfine = 126
