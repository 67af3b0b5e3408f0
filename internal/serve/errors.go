package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// CodeRateLimited refuses a request of an owner who makes too many, whatever its
// method is.
const CodeRateLimited acp.ErrorCode = -32005

// Other codes outside the table of ACP.
const (
	codeSessionLimit acp.ErrorCode = -32001
	// The dialect's own meanings of codes that ACP uses differently.
	codeDialectNotFound acp.ErrorCode = -32000
	codeDialectBusy     acp.ErrorCode = -32002
)

// errorData is the data of an error about one session.
type errorData struct {
	SessionID string `json:"sessionId,omitzero"`
	Reason    string `json:"reason,omitzero"`
}

func newError(code acp.ErrorCode, msg string, data errorData) *acp.Error {
	e := &acp.Error{Code: code, Message: msg}
	if data != (errorData{}) {
		e.Data, _ = json.Marshal(data)
	}
	return e
}

// wireError turns an error of the hub into what the client is told, in its
// dialect (reference: ACP error codes; the dialect's own table).
func (c *conn) wireError(err error, id string) *acp.Error {
	var rpc *acp.Error
	var invalid *session.InvalidError
	var failure *session.FailureError
	var elsewhere *session.ActiveElsewhereError
	switch {
	case errors.As(err, &rpc):
		return rpc
	case errors.Is(err, session.ErrNotFound), errors.Is(err, session.ErrNotActive):
		return c.notFound(id)
	case errors.Is(err, session.ErrDraining):
		return draining(id)
	case errors.Is(err, session.ErrSessionLimit):
		return newError(codeSessionLimit, session.ErrSessionLimit.Error(), errorData{Reason: "SESSION_LIMIT_REACHED"})
	case errors.Is(err, session.ErrRole):
		return newError(acp.CodeInternalError, err.Error(), errorData{id, "ROLE"})
	case errors.Is(err, session.ErrBusy):
		return c.busy(id)
	case errors.As(err, &invalid):
		return newError(acp.CodeInvalidParams, invalid.Msg, errorData{})
	case errors.As(err, &elsewhere) && c.dialect.Load():
		return newError(acp.CodeInvalidParams, "session "+id+" is already active", errorData{SessionID: id})
	case errors.Is(err, session.ErrBadCursor):
		return newError(acp.CodeInvalidParams, err.Error(), errorData{})
	case errors.As(err, &failure):
		return c.failure(failure.Failure)
	case errors.Is(err, context.Canceled):
		return newError(acp.CodeRequestCancelled, "the request was cancelled", errorData{SessionID: id})
	default:
		return newError(acp.CodeInternalError, err.Error(), errorData{SessionID: id})
	}
}

// draining refuses work of a process that is ending. Another one may take it.
func draining(id string) *acp.Error {
	return newError(acp.CodeInternalError, session.ErrDraining.Error(), errorData{id, "DRAINING"})
}

// notFound is the answer about a session that is not there. While the hub drains
// that tells nothing: it has let go of those with nothing to do.
func (c *conn) notFound(id string) *acp.Error {
	if c.server.opts.Hub.Draining() {
		return draining(id)
	}
	if c.dialect.Load() {
		return newError(codeDialectNotFound, "Session not found: "+shown(id), errorData{id, "SESSION_NOT_FOUND"})
	}
	return newError(acp.CodeResourceNotFound, "session not found: "+shown(id), errorData{SessionID: id})
}

// shown is an id of a client, which may be anything, as part of a sentence.
func shown(id string) string { return strings.Trim(fmt.Sprintf("%.100q", id), `"`) }

func (c *conn) busy(id string) *acp.Error {
	code := acp.CodeInternalError
	if c.dialect.Load() {
		code = codeDialectBusy
	}
	return newError(code, session.ErrBusy.Error(), errorData{id, "SESSION_BUSY"})
}

// failure is how a turn's failure is answered. On dialect connections -32000
// means "session not found" and nothing else.
func (c *conn) failure(f session.Failure) *acp.Error {
	code := acp.ErrorCode(f.Code)
	if code == acp.CodeAuthRequired && c.dialect.Load() {
		code = acp.CodeInternalError
	}
	return &acp.Error{Code: code, Message: f.Message, Data: f.Data}
}

// redacted takes the secrets out of an error on its way to the client: what
// failed may quote what it was given.
func (c *conn) redacted(cause error) error {
	r := c.server.opts.Redact
	rpc, ok := errors.AsType[*acp.Error](cause)
	if !ok {
		return r.Error(cause)
	}
	clean := *rpc
	clean.Message, clean.Data = r.Replace(rpc.Message), r.ReplaceJSON(rpc.Data)
	return &clean
}

// rateLimited refuses a request of an owner who makes too many.
func rateLimited(wait time.Duration) *acp.Error {
	e := acp.Errorf(CodeRateLimited, "too many requests: try again in %s", max(wait, time.Millisecond).Round(time.Millisecond))
	e.Data, _ = json.Marshal(struct {
		Reason       string `json:"reason"`
		RetryAfterMs int64  `json:"retryAfterMs"`
	}{"RATE_LIMITED", max(wait, time.Millisecond).Milliseconds()})
	return e
}
