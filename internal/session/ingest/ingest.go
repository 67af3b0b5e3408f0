// Package ingest looks once at the params of an event when it enters the hub:
// it refuses what is not exact JSON, finds the event's kind and marks the places
// that may differ per hop, so that nothing after it needs to decode a chunk.
package ingest

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Facts are what one look at a body found.
type Facts struct {
	Kind   session.Kind // update.sessionUpdate; empty when there is no update
	Marks  session.Marks
	Text   session.Span // the JSON string of a chunk's text content
	Status session.Span // the JSON string of a tool call's status
	Meta   session.Span // the _meta of the update itself
	Fields Fields       // what a tool call or its update carries
}

// Fields is a set of the members of a tool call update.
type Fields uint16

// The members of ACP ToolCallUpdate that replace their value as a whole.
const (
	FieldKind Fields = 1 << iota
	FieldStatus
	FieldTitle
	FieldName
	FieldContent
	FieldLocations
	FieldRawInput
	FieldRawOutput
	FieldMeta
	// FieldOther stands for any member of which it is not known that a newer
	// value makes an older one worthless.
	FieldOther
)

// Has reports whether all of g are in f.
func (f Fields) Has(g Fields) bool { return f&g == g }

// Terminal reports whether the status marked in body is one a tool call ends
// with.
func (f Facts) Terminal(body jsontext.Value) bool {
	s := Raw(body, f.Status)
	return bytes.Equal(s, []byte(`"completed"`)) || bytes.Equal(s, []byte(`"failed"`))
}

// Raw returns the bytes a span marks, nil for none. A span that does not fit,
// as from a damaged store, marks nothing.
func Raw(body jsontext.Value, s session.Span) jsontext.Value {
	if s.IsZero() || s.From > s.To || int(s.To) > len(body) {
		return nil
	}
	return body[s.From:s.To]
}

// Text decodes the JSON string a span marks; it is "" for anything else.
func Text(body jsontext.Value, s session.Span) string {
	raw := Raw(body, s)
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if n := len(raw) - 1; n > 0 && bytes.IndexByte(raw, '\\') < 0 && raw[n] == '"' {
		return string(raw[1:n]) // as ids are; the rest would take more than one allocation
	}
	return string(AppendText(nil, body, s))
}

// AppendText appends the JSON string a span marks, decoded; nothing for anything
// else.
func AppendText(dst []byte, body jsontext.Value, s session.Span) []byte {
	raw := Raw(body, s)
	if len(raw) == 0 || raw[0] != '"' {
		return dst
	}
	if n := len(raw) - 1; n > 0 && bytes.IndexByte(raw, '\\') < 0 && raw[n] == '"' {
		return append(dst, raw[1:n]...)
	}
	out, err := jsontext.AppendUnquote(dst, raw)
	if err != nil {
		return dst
	}
	return out
}

// Look checks a body and reports what it found. The body must be one JSON
// object with exact keys, no duplicates and valid UTF-8; the error, a
// *session.InvalidError, says where it is not.
func Look(body jsontext.Value) (Facts, error) {
	if len(body) > math.MaxUint32 {
		return Facts{}, session.Invalidf("message of %d bytes is too long to record", len(body))
	}
	if f, ok := usual(body); ok {
		return f, nil
	}
	return decode(body)
}

// decode is Look for bodies of every shape.
func decode(body jsontext.Value) (Facts, error) {
	sc := scanners.Get().(*scanner)
	defer sc.release()
	sc.reset(body)
	var f Facts
	if err := sc.params(&f); err != nil {
		return Facts{}, session.Invalidf("message is not valid: %v", err)
	}
	return f, nil
}

// scanners holds decoders between looks: one look is on the path of every
// chunk.
var scanners = sync.Pool{New: func() any { return &scanner{dec: new(jsontext.Decoder)} }}

type scanner struct {
	dec *jsontext.Decoder
	buf bytes.Buffer
}

func (s *scanner) reset(body jsontext.Value) {
	s.buf = *bytes.NewBuffer(body)
	s.dec.Reset(&s.buf)
}

// release forgets the body before the scanner waits for its next use.
func (s *scanner) release() {
	s.reset(nil)
	scanners.Put(s)
}

func (s *scanner) params(f *Facts) error {
	if k := s.dec.PeekKind(); k != jsontext.KindBeginObject {
		if _, err := s.dec.ReadValue(); err != nil {
			return err
		}
		return fmt.Errorf("params must be an object, not %v", k)
	}
	err := s.object(func(name []byte) error {
		switch string(name) {
		case `"sessionId"`:
			return s.mark(&f.Marks.SessionID)
		case `"_meta"`:
			return s.mark(&f.Marks.Meta)
		case `"toolCallId"`:
			return s.mark(&f.Marks.ToolCallID)
		case `"update"`:
			return s.descend(func(name []byte) error { return s.update(f, name) })
		case `"toolCall"`:
			return s.descend(func(name []byte) error { return s.toolCall(f, name) })
		}
		return s.dec.SkipValue()
	})
	if err != nil {
		return err
	}
	return s.end()
}

// end refuses anything after the object.
func (s *scanner) end() error {
	rest := bytes.TrimLeft(s.dec.UnreadBuffer(), " \t\r\n")
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes after the params object", len(rest))
	}
	return nil
}

func (s *scanner) update(f *Facts, name []byte) error {
	switch string(name) {
	case `"sessionUpdate"`:
		v, err := s.dec.ReadValue()
		if err != nil {
			return err
		}
		f.Kind = kindOf(v)
		return nil
	case `"messageId"`:
		return s.markString(&f.Marks.MessageID)
	case `"content"`:
		f.Fields |= FieldContent
		return s.descend(func(name []byte) error {
			if string(name) == `"text"` {
				return s.mark(&f.Text)
			}
			return s.dec.SkipValue()
		})
	}
	return s.toolCall(f, name)
}

// toolCall reads a member of a ToolCall or ToolCallUpdate.
func (s *scanner) toolCall(f *Facts, name []byte) error {
	switch string(name) {
	case `"toolCallId"`:
		return s.markString(&f.Marks.ToolCallID)
	case `"status"`:
		f.Fields |= FieldStatus
		return s.mark(&f.Status)
	}
	if string(name) == `"_meta"` {
		f.Fields |= FieldMeta
		return s.mark(&f.Meta)
	}
	f.Fields |= fieldOf(name)
	return s.dec.SkipValue()
}

func fieldOf(name []byte) Fields {
	switch string(name) {
	case `"kind"`:
		return FieldKind
	case `"title"`:
		return FieldTitle
	case `"name"`:
		return FieldName
	case `"content"`:
		return FieldContent
	case `"locations"`:
		return FieldLocations
	case `"rawInput"`:
		return FieldRawInput
	case `"rawOutput"`:
		return FieldRawOutput
	}
	return FieldOther
}

// descend walks the members of an object; anything else is skipped.
func (s *scanner) descend(member func(name []byte) error) error {
	if s.dec.PeekKind() != jsontext.KindBeginObject {
		return s.dec.SkipValue()
	}
	return s.object(member)
}

func (s *scanner) object(member func(name []byte) error) error {
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for {
		switch s.dec.PeekKind() {
		case jsontext.KindEndObject:
			_, err := s.dec.ReadToken()
			return err
		default:
			name, err := s.dec.ReadValue()
			if err != nil {
				return err
			}
			if err := member(name); err != nil {
				return err
			}
		}
	}
}

func (s *scanner) mark(span *session.Span) error {
	v, err := s.dec.ReadValue()
	if err != nil {
		return err
	}
	to := s.dec.InputOffset()
	*span = session.Span{From: uint32(to) - uint32(len(v)), To: uint32(to)}
	return nil
}

// markString marks a value only when it is a string: an id that is null names
// nothing.
func (s *scanner) markString(span *session.Span) error {
	if s.dec.PeekKind() != jsontext.KindString {
		return s.dec.SkipValue()
	}
	return s.mark(span)
}
