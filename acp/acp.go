package acp

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// MessageConn carries whole JSON-RPC messages in both directions. One
// goroutine reads; any number may write at once, and each message is written
// whole. Close unblocks both sides.
type MessageConn interface {
	// ReadMessage returns the next message, which the caller then owns.
	// It returns io.EOF when the peer has closed cleanly, and a
	// *MessageTooLargeError for one message over the limit: that message is
	// skipped and the connection lives on.
	ReadMessage(ctx context.Context) (jsontext.Value, error)
	// WriteMessage sends one message. It blocks while the peer is slow, and
	// does not keep msg. It returns ErrInvalidMessage, or the error of ctx,
	// only when nothing of msg was sent; after any other error the connection
	// is unusable.
	WriteMessage(ctx context.Context, msg jsontext.Value) error
	// Close ends the connection. It may be called more than once.
	Close() error
}

// BatchWriter is a MessageConn that can send several messages with one write.
type BatchWriter interface {
	// WriteMessages is WriteMessage for each of msgs, in order and with none of
	// another caller's between them. It keeps neither msgs nor what is in it.
	WriteMessages(ctx context.Context, msgs []jsontext.Value) error
}

// ErrInvalidMessage reports a message that was not sent because it is not JSON.
var ErrInvalidMessage = errors.New("the message is not valid JSON")

// MessageTooLargeError reports one incoming message that was over the limit.
type MessageTooLargeError struct {
	Limit int64 // bytes
	// Head is how the message begins, enough to find out whom to tell. It is
	// what the peer sent and does not belong in a log.
	Head []byte
}

// Error names the limit and the setting that moves it.
func (e *MessageTooLargeError) Error() string {
	return fmt.Sprintf("message is longer than the limit of %d bytes (acp.max_message_bytes)", e.Limit)
}

// Handler receives what the peer sends, in arrival order, on one goroutine.
// Whatever must take effect in that order (reserving a turn, marking a cancel)
// happens before the method returns; whatever can wait runs on a goroutine of
// the handler's own, so that one slow request delays no other. Methods must
// not wait for a Call on the same connection.
type Handler interface {
	// HandleRequest takes a request. Exactly one of Reply, ReplyRaw or Fail
	// must be called on it, at once or later, from any goroutine. ctx ends
	// when the peer cancels the request, or the connection ends before the
	// request is answered; answering does not end it.
	HandleRequest(ctx context.Context, req *Request)
	// HandleNotification takes a notification. Responses to our own calls that
	// arrived after it are held until it returns.
	HandleNotification(ctx context.Context, n *Notification)
}

// Notification is a call that wants no answer.
type Notification struct {
	Method string
	Params jsontext.Value // nil when absent
}

// ErrorCode is a JSON-RPC or ACP error code.
type ErrorCode int

// The codes of JSON-RPC 2.0 and of ACP.
const (
	CodeParseError         ErrorCode = -32700
	CodeInvalidRequest     ErrorCode = -32600
	CodeMethodNotFound     ErrorCode = -32601
	CodeInvalidParams      ErrorCode = -32602
	CodeInternalError      ErrorCode = -32603
	CodeRequestCancelled   ErrorCode = -32800
	CodeAuthRequired       ErrorCode = -32000
	CodeResourceNotFound   ErrorCode = -32002
	CodeUnsupportedVersion ErrorCode = -32022
)

// Error is a JSON-RPC error object. Handlers fail a request with one to choose
// the code; any other error is sent as CodeInternalError with its text.
type Error struct {
	Code    ErrorCode      `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data,omitzero"`
}

// Error returns the message with the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf makes an Error with a formatted message.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
