package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// FieldError says which member of a message is wrong and what was expected.
type FieldError struct {
	Path    string // such as prompt[2].mimeType; empty for the message itself
	Problem string // such as "is required"
}

func (e *FieldError) Error() string {
	if e.Path == "" {
		return "the message " + e.Problem
	}
	return e.Path + " " + e.Problem
}

// Wrong is a FieldError for the value at hand; At adds the path on the way up.
func Wrong(format string, args ...any) error {
	return &FieldError{Problem: fmt.Sprintf(format, args...)}
}

// At puts name in front of the path of err. It returns nil for nil.
func At(err error, name string) error {
	if err == nil {
		return nil
	}
	fe, ok := errors.AsType[*FieldError](err)
	switch {
	case !ok:
		return &FieldError{Path: name, Problem: "is wrong: " + err.Error()}
	case fe.Path == "" || strings.HasPrefix(fe.Path, "["):
		fe.Path = name + fe.Path
	default:
		fe.Path = name + "." + fe.Path
	}
	return fe
}

func atIndex(err error, i int) error { return At(err, "["+strconv.Itoa(i)+"]") }

// errInvalid cannot happen on what jsontext has accepted.
func errInvalid() error { return Wrong("is not valid JSON") }

// Unknown says that a closed set does not have value.
func Unknown(value []byte) error {
	const most = 40 // enough to recognise a value, too little to flood a log
	if len(value) > most {
		value = append(value[:most:most], "..."...)
	}
	return Wrong("has the unknown value %q", value)
}
