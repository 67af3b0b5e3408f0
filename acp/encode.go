package acp

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxPooledBytes bounds the buffers kept for reuse: one giant message must not
// hold its memory for ever.
const maxPooledBytes = 256 << 10

// encoder writes outgoing messages into one reused buffer.
type encoder struct {
	buf bytes.Buffer
}

// encoders recycles encoders.
type encoders struct {
	pool sync.Pool
}

func (p *encoders) get() *encoder {
	if e, ok := p.pool.Get().(*encoder); ok {
		return e
	}
	return new(encoder)
}

// put takes an encoder back. Bytes it returned are invalid afterwards.
func (p *encoders) put(e *encoder) {
	if e.buf.Cap() <= maxPooledBytes {
		e.buf.Reset()
		p.pool.Put(e)
	}
}

// call encodes a request, or a notification when id is the zero ID.
func (e *encoder) call(id ID, method string, params any) (jsontext.Value, error) {
	e.buf.WriteString(`{"jsonrpc":"2.0"`)
	if id.IsValid() {
		e.buf.WriteString(`,"id":`)
		e.buf.WriteString(id.literal)
	}
	e.buf.WriteString(`,"method":`)
	if err := e.string(method); err != nil {
		return nil, fmt.Errorf("cannot send a message: its method is not UTF-8: %w", err)
	}
	before := e.buf.Len()
	e.buf.WriteString(`,"params":`)
	if null, err := e.value(params); err != nil {
		return nil, fmt.Errorf("cannot encode the params of %s: %w", method, err)
	} else if null {
		e.buf.Truncate(before)
	}
	e.buf.WriteByte('}')
	return e.buf.Bytes(), nil
}

// result encodes a successful response. Strict clients refuse null results,
// so nil and null become {}.
func (e *encoder) result(id ID, result any) (jsontext.Value, error) {
	e.response(id)
	e.buf.WriteString(`,"result":`)
	before := e.buf.Len()
	if null, err := e.value(result); err != nil {
		return nil, fmt.Errorf("cannot encode a result of type %T: %w", result, err)
	} else if null {
		e.buf.Truncate(before)
		e.buf.WriteString(`{}`)
	}
	e.buf.WriteByte('}')
	return e.buf.Bytes(), nil
}

// failure encodes an error response. The zero ID is written as null.
func (e *encoder) failure(id ID, fault *Error) (jsontext.Value, error) {
	e.response(id)
	e.buf.WriteString(`,"error":`)
	if _, err := e.value(fault); err != nil {
		return nil, fmt.Errorf("cannot encode an error response: %w", err)
	}
	e.buf.WriteByte('}')
	return e.buf.Bytes(), nil
}

func (e *encoder) response(id ID) {
	e.buf.WriteString(`{"jsonrpc":"2.0","id":`)
	if id.IsValid() {
		e.buf.WriteString(id.literal)
	} else {
		e.buf.WriteString(`null`)
	}
}

func (e *encoder) string(s string) error {
	quoted, err := jsontext.AppendQuote(e.buf.AvailableBuffer(), s)
	e.buf.Write(quoted)
	return err
}

// value encodes v and reports whether it came out as null. A jsontext.Value
// goes out as it is. Go strings that are not UTF-8 get U+FFFD for the bad
// bytes: half a character cut from a tool's output must not lose the message.
func (e *encoder) value(v any) (null bool, err error) {
	before := e.buf.Len()
	switch v := v.(type) {
	case nil:
		return true, nil
	case jsontext.Value:
		e.buf.Write(v)
	default:
		if err := json.MarshalWrite(&e.buf, v, jsontext.AllowInvalidUTF8(true)); err != nil {
			return false, err
		}
	}
	out := e.buf.Bytes()[before:]
	return len(out) == 0 || string(out) == `null`, nil
}
