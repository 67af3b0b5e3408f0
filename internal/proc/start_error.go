package proc

import (
	"errors"
	"fmt"
)

// Why a child could not be started. Exactly one of them matches a *StartError.
var (
	ErrCommandMissing     = errors.New("command not found")
	ErrNotExecutable      = errors.New("not executable")
	ErrInterpreterMissing = errors.New("interpreter not found")
	ErrDirMissing         = errors.New("working directory not found")
	ErrDirNotDirectory    = errors.New("working directory is not a directory")
	ErrStart              = errors.New("the system refused to start it")
)

// StartError says why a child could not be started and which file is to blame.
type StartError struct {
	Command string // what was to be started
	Path    string // the file or directory at fault
	Reason  error  // one of the sentinels above
	Cause   error  // from the system; may be nil
}

func (e *StartError) Error() string {
	msg := fmt.Sprintf("cannot start %s: %s", e.Command, e.detail())
	if e.Cause != nil {
		msg += fmt.Sprintf(" (%v)", e.Cause)
	}
	return msg
}

func (e *StartError) detail() string {
	switch e.Reason {
	case ErrCommandMissing:
		return fmt.Sprintf("there is no program %s; install it or give its full path", e.Path)
	case ErrNotExecutable:
		return fmt.Sprintf("%s is not an executable program; check its mode and format", e.Path)
	case ErrInterpreterMissing:
		return fmt.Sprintf("its interpreter %s is missing; install it or correct the first line of the script", e.Path)
	case ErrDirMissing:
		return fmt.Sprintf("the working directory %s does not exist", e.Path)
	case ErrDirNotDirectory:
		return fmt.Sprintf("the working directory %s is not a directory", e.Path)
	}
	return fmt.Sprintf("%v: %s", e.Reason, e.Path)
}

// Unwrap makes both the reason and the system's error visible to errors.Is.
func (e *StartError) Unwrap() []error { return []error{e.Reason, e.Cause} }
