package fsroot

import (
	"errors"
	"fmt"
)

// Reasons a path is refused. Errors of this package that stem from a refusal
// are *PathError and match one of them with errors.Is.
var (
	ErrOutside    = errors.New("outside the allowed directories")
	ErrForbidden  = errors.New("forbidden")
	ErrDangling   = errors.New("a link to something that does not exist")
	ErrNotRegular = errors.New("not a regular file")
	ErrInvalid    = errors.New("not a usable path")
	ErrReadOnly   = errors.New("in a directory that may only be read")
	ErrGone       = errors.New("removed, moved or replaced since the session began; restore it or start a session elsewhere")
	ErrChanged    = errors.New("changed by someone else since it was read; read it again")
	ErrTooLarge   = errors.New("larger than the limit")
)

// PathError names the path that was refused, as it was asked for, and why.
type PathError struct {
	Path   string
	Reason error  // one of the Err values
	Detail string // more words for a person, may be empty
}

func (e *PathError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%q is %v", e.Path, e.Reason)
	}
	return fmt.Sprintf("%q is %v: %s", e.Path, e.Reason, e.Detail)
}

// Unwrap returns the reason.
func (e *PathError) Unwrap() error { return e.Reason }

func pathError(path string, reason error, detail string) *PathError {
	return &PathError{Path: path, Reason: reason, Detail: detail}
}
