package session

import (
	"errors"
	"fmt"
)

// Errors that surfaces answer with a code of their own.
var (
	ErrNotFound     = errors.New("session not found")
	ErrNotActive    = errors.New("session is not active: load or resume it first")
	ErrFenced       = errors.New("session was taken over by another instance")
	ErrBadCursor    = errors.New("this is no cursor of a list with the same parameters: start again without one")
	ErrSessionLimit = errors.New("too many active sessions: close one, or raise acp.max_sessions")
	ErrBusy         = errors.New("a turn is running in this session: wait for it or cancel it")
	ErrUnsupported  = errors.New("the agent does not support this")
	ErrReadOnly     = errors.New("the session store is read-only")
	ErrRole         = errors.New("this client's role does not allow it: use a credential of a higher role, or ask the session's owner for one")
	ErrDraining     = errors.New("shutting down: no new work is accepted")
	ErrSuperseded   = errors.New("no answer is needed any more")
	ErrEpochOver    = errors.New("this opening of the agent is over")
	ErrHandsGone    = errors.New("the client whose files and terminals these are is gone")
	ErrDriverDied   = errors.New("the agent ended unexpectedly: prompt again to restart it")
)

// ActiveElsewhereError reports that another live instance owns a session.
// Attach through its socket instead.
type ActiveElsewhereError struct {
	Session, Instance, Socket string
}

func (e *ActiveElsewhereError) Error() string {
	return fmt.Sprintf("session %s is active in instance %s", e.Session, e.Instance)
}

// KeyTakenError reports that a key names another of the owner's sessions.
type KeyTakenError struct{ Key, Session string }

func (e *KeyTakenError) Error() string {
	return fmt.Sprintf("session key %q belongs to session %s", e.Key, e.Session)
}

// Unwrap makes it an InvalidError for those who only pass it on.
func (e *KeyTakenError) Unwrap() error { return &InvalidError{Msg: e.Error()} }

// InvalidError is a refusal of what a client asked for (-32602 at the edge).
type InvalidError struct{ Msg string }

func (e *InvalidError) Error() string { return e.Msg }

// Invalidf makes an InvalidError.
func Invalidf(format string, args ...any) error {
	return &InvalidError{Msg: fmt.Sprintf(format, args...)}
}

// FailureError carries a Failure as an error, so that a driver can choose the
// code its prompt is answered with.
type FailureError struct{ Failure Failure }

func (e *FailureError) Error() string { return e.Failure.Message }
