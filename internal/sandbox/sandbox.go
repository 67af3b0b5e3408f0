// Package sandbox confines commands by what the operating system offers:
// bubblewrap, or Landlock with seccomp, or Seatbelt on macOS.
//
// A [Ladder] finds out, once per process and only when somebody asks, which
// rung works here, by running a command on it that tries to get out. A [Box]
// holds what one session may reach and rewrites the commands of the session so
// that they run confined. What a command sees is a list of places, worked out
// in view.go; each rung says the same list in its own words.
//
// Our own process is never confined, and nothing here judges a command: what
// may run at all is for package policy to say.
package sandbox

import (
	"errors"
	"fmt"
)

// Rung is a way to confine commands. The names are those of autonomy.sandbox.
type Rung string

// The rungs, the strongest first.
const (
	Bubblewrap Rung = "bubblewrap" // own namespaces: what is not granted does not exist
	Landlock   Rung = "landlock"   // the kernel refuses what is not granted
	Seatbelt   Rung = "seatbelt"   // the same on macOS
	None       Rung = "none"       // commands can do what their user can
)

// Auto asks for the first rung that works here.
const Auto Rung = "auto"

// Status is which rung holds, and why not a higher one.
type Status struct {
	Rung Rung
	// ABI is the version of Landlock in use, 0 on other rungs.
	ABI int
	// Chosen says that the configuration asks for no sandbox.
	Chosen bool
	// Failed are the rungs that were tried first.
	Failed []Failure
}

// Failure is why a rung does not work here.
type Failure struct {
	Rung Rung
	Err  error
	Fix  string // what a person can do about it; may be empty
}

// Works reports whether commands are confined.
func (s Status) Works() bool { return s.Rung != None }

// Why says in one sentence why nothing confines commands.
func (s Status) Why() string {
	if s.Chosen {
		return `the configuration says sandbox = "none"`
	}
	if len(s.Failed) == 0 {
		return "this system offers none"
	}
	var errs []error
	for _, f := range s.Failed {
		errs = append(errs, fmt.Errorf("%s: %w", f.Rung, f.Err))
	}
	return joined(errs)
}

// Fix is what a person can do for a better rung, "" when nothing is known.
func (s Status) Fix() string {
	for _, f := range s.Failed {
		if f.Fix != "" {
			return f.Fix
		}
	}
	return ""
}

func joined(errs []error) string {
	text := ""
	for i, err := range errs {
		if i > 0 {
			text += "; "
		}
		text += err.Error()
	}
	return text
}

// ErrRequired refuses a command where a sandbox is required and none works.
var ErrRequired = errors.New("no sandbox works here and autonomy.sandbox_required is set, so no command is run; `grapnel doctor` says what is missing")

// Want is what one command may do beyond reading what its session may read.
type Want struct {
	Network bool // reach other hosts
	// Everything grants the whole file system but for what is forbidden, as at
	// level full.
	Everything bool
	// ReadOnly keeps the session's directories from being written.
	ReadOnly bool
	// GitSettings leaves writable what makes git run programs, its settings and
	// hooks. Only bubblewrap can withhold them.
	GitSettings bool
	// Readable and Writable are places for this command alone, absolute. What is
	// forbidden or our own is not granted, also when it is among them.
	Readable, Writable []string
}
