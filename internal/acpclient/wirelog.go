package acpclient

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxLogged is how much of a message is logged, in bytes.
const maxLogged = 4 << 10

// logged is a connection whose messages are told to line, with arrows for their
// direction.
type logged struct {
	acp.MessageConn
	redact func(string) string
	line   func(string)
}

func (l logged) ReadMessage(ctx context.Context) (jsontext.Value, error) {
	msg, err := l.MessageConn.ReadMessage(ctx)
	if err == nil {
		l.log("<-", msg)
	}
	return msg, err
}

func (l logged) WriteMessage(ctx context.Context, msg jsontext.Value) error {
	l.log("->", msg)
	return l.MessageConn.WriteMessage(ctx, msg)
}

func (l logged) log(arrow string, msg jsontext.Value) {
	text := string(printable.JSON([]byte(l.redact(string(msg)))))
	if len(text) > maxLogged {
		text = fmt.Sprintf("%s… (%d bytes)", printable.Head(text, maxLogged), len(msg))
	}
	l.line(arrow + " " + text)
}
