package ws

import (
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/grapnel-ai/grapnel/acp"
)

// Close codes of RFC 6455, section 7.4.1.
const (
	CodeNormal    = 1000
	CodeGoingAway = 1001 // a server shuts down, a page is left
	CodeProtocol  = 1002
	CodeNoCode    = 1005 // the peer gave none; never sent
	CodeLost      = 1006 // there was no close frame; never sent
	CodeNotText   = 1007
	CodePolicy    = 1008 // a limit was exceeded
	CodeTooBig    = 1009
	CodeInternal  = 1011
)

const (
	// closeGrace is how long the peer has to take the close frame and answer it.
	closeGrace = time.Second
	// maxReasonBytes is what fits into a close frame.
	maxReasonBytes = 123
)

// CloseError says how a connection ended that did not end cleanly. Code and
// Reason are what the peer sent, or what this side closed it with.
type CloseError struct {
	Code   int
	Reason string // may be empty; at most 123 bytes when the peer sent it
	Err    error  // what the network or the WebSocket library said; may be nil
}

// Error names the reason and the code.
func (e *CloseError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the WebSocket was closed (%d)", e.Code)
	}
	return fmt.Sprintf("the WebSocket was closed: %s (%d)", e.Reason, e.Code)
}

// Unwrap returns the cause.
func (e *CloseError) Unwrap() error { return e.Err }

// closedByPeer is the error for a close frame of the peer.
func closedByPeer(e websocket.CloseError) error {
	switch e.Code {
	case CodeNormal, CodeGoingAway, CodeNoCode:
		return io.EOF
	}
	return &CloseError{Code: int(e.Code), Reason: e.Reason}
}

// Close closes the connection cleanly, with 1000.
func (c *Conn) Close() error { return c.CloseWith(CodeNormal, "") }

// CloseWith closes the connection with a code and a reason, of which the peer
// gets 123 bytes. It gives the peer a second to take the frame and to answer;
// then the socket is closed. Only the first close counts, but each returns when
// the connection has ended.
func (c *Conn) CloseWith(code int, reason string) error {
	c.end(acp.ErrClosed)
	c.shut(code, reason)
	c.ended.Wait()
	return nil
}

// shut does the closing handshake, once, and closes the socket.
func (c *Conn) shut(code int, reason string) {
	c.closer.Do(func() {
		timer := time.AfterFunc(closeGrace, func() { _ = c.wire.Close() })
		defer timer.Stop()
		_ = c.socket.Close(websocket.StatusCode(code), shorten(reason))
		_ = c.wire.Close()
	})
}

// refuse closes the connection for what the peer did. It returns why it ended,
// which is err unless something else was first.
func (c *Conn) refuse(err *CloseError) error {
	why := c.end(err)
	c.shut(err.Code, err.Reason)
	return why
}

// drop closes the socket without a word, since the peer is gone or does not
// read. It returns why the connection ended.
func (c *Conn) drop(err error) error {
	why := c.end(err)
	_ = c.wire.Close()
	return why
}

// end marks the connection as ended for the reason err, unless it has one. It
// returns the reason.
func (c *Conn) end(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = err
		close(c.closed)
	}
	return c.cause
}

// whyEnded is the error of whatever is tried after the end.
func (c *Conn) whyEnded() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil || c.cause == io.EOF {
		return acp.ErrClosed
	}
	return c.cause
}

func (c *Conn) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// shorten cuts a reason to what fits into a close frame.
func shorten(reason string) string {
	if len(reason) <= maxReasonBytes {
		return reason
	}
	reason = reason[:maxReasonBytes]
	for !utf8.ValidString(reason) {
		reason = reason[:len(reason)-1]
	}
	return reason
}
