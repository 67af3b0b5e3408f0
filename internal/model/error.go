package model

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ErrorKind sorts failures by what can be done about them.
type ErrorKind string

// The kinds of failure.
const (
	ErrAuth          ErrorKind = "auth"           // no credentials, or the provider refused them: a login helps
	ErrRateLimit     ErrorKind = "rate_limit"     // too many requests or no quota left
	ErrOverloaded    ErrorKind = "overloaded"     // the provider is too busy
	ErrServer        ErrorKind = "server"         // the provider failed
	ErrNetwork       ErrorKind = "network"        // no connection, or it went silent
	ErrTruncated     ErrorKind = "truncated"      // the stream ended in the middle
	ErrBadRequest    ErrorKind = "bad_request"    // the provider refused the request
	ErrContextLength ErrorKind = "context_length" // the conversation does not fit the model
	ErrEmpty         ErrorKind = "empty"          // the model answered with nothing
	ErrCanceled      ErrorKind = "canceled"       // the caller gave up; wraps the context's error
	ErrUnknown       ErrorKind = "unknown"
)

// Error is a failed model step. Its text is one sentence a person can act on
// and never holds a credential.
type Error struct {
	Kind     ErrorKind
	Provider string // name in the configuration
	Model    string
	Status   int // HTTP status, 0 without one
	// Message is the provider's own explanation, cleaned and shortened.
	Message string
	// RetryAfter is how long the provider asked to wait; 0 when it did not.
	RetryAfter time.Duration
	// Final says that the same request will not succeed for now, whatever Kind.
	Final bool
	// Partial is what had arrived by then; nil when nothing had.
	Partial *Response
	Err     error // cause, may be nil
}

// Error returns the failure as one sentence.
func (e *Error) Error() string {
	s := e.what()
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + strings.TrimRight(e.Message, ". ")
	}
	if h := e.hint(); h != "" {
		s += "; " + h
	}
	return s
}

func (e *Error) what() string {
	who := "provider " + e.Provider
	switch e.Kind {
	case ErrAuth:
		if e.Status == 0 {
			return who + " has no usable credentials"
		}
		return who + " rejected the credentials"
	case ErrRateLimit:
		return who + " refused the request because of its rate or usage limit"
	case ErrOverloaded:
		return who + " is overloaded"
	case ErrServer:
		return who + " failed"
	case ErrNetwork:
		return who + " could not be reached"
	case ErrTruncated:
		return who + " broke off in the middle of its answer"
	case ErrBadRequest:
		return who + " did not accept the request"
	case ErrContextLength:
		return "the conversation is too long for model " + e.Model + " of " + who
	case ErrCanceled:
		return "the request to " + who + " was cancelled"
	case ErrEmpty:
		return "model " + e.Model + " of " + who + " gave an empty answer"
	default:
		return who + " failed in an unexpected way"
	}
}

func (e *Error) hint() string {
	switch e.Kind {
	case ErrAuth:
		return fmt.Sprintf("check providers.%s.api_key or run grapnel setup", e.Provider)
	case ErrRateLimit:
		if e.RetryAfter > 0 {
			return fmt.Sprintf("try again in %s", e.RetryAfter.Round(time.Second))
		}
		return "wait a little or check the account's plan"
	case ErrOverloaded, ErrServer, ErrTruncated, ErrEmpty:
		return "try again"
	case ErrNetwork:
		return fmt.Sprintf("check the network and providers.%s.base_url", e.Provider)
	case ErrContextLength:
		return "start a new session or shorten the prompt"
	case ErrBadRequest:
		if e.Status == http.StatusNotFound {
			return fmt.Sprintf("check providers.%[1]s.model and providers.%[1]s.base_url", e.Provider)
		}
		return "choose another model, or start a new session"
	default:
		return ""
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	if e.Final {
		return false
	}
	switch e.Kind {
	case ErrRateLimit, ErrOverloaded, ErrServer, ErrNetwork, ErrTruncated, ErrEmpty:
		return true
	default:
		return false
	}
}

// KindOf returns the kind of a model error, or "" when err is none.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}
