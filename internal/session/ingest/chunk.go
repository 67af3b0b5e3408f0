package ingest

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// usual returns what Look does for a body of the shape that nearly all have, a
// chunk of text without white space whose members come in the usual order,
// without running a decoder. ok is false for any other body, valid or not.
func usual(body jsontext.Value) (f Facts, ok bool) {
	if len(body) > math.MaxUint32 {
		return Facts{}, false
	}
	m := matcher{body: body, ok: true}
	m.literal(`{"sessionId":`)
	f.Marks.SessionID = m.str()
	m.literal(`,"update":{"sessionUpdate":`)
	kind := m.str()
	m.literal(`,"content":{"type":"text","text":`)
	f.Text = m.str()
	m.literal(`}`)
	if m.try(`,"messageId":`) {
		f.Marks.MessageID = m.str()
	}
	m.literal(`}}`)
	if !m.ok || m.at != len(body) {
		return Facts{}, false
	}
	f.Kind = chunkKind(body[kind.From:kind.To])
	f.Fields = FieldContent
	return f, f.Kind != ""
}

// chunkKind names the kinds of which a chunk of text is the usual form.
func chunkKind(v jsontext.Value) session.Kind {
	switch k := kindOf(v); k {
	case session.KindAgentMessage, session.KindAgentThought, session.KindUserMessage:
		return k
	}
	return ""
}

// matcher goes through a body that is expected to be just so; ok is false from
// the first byte that is not.
type matcher struct {
	body []byte
	at   int
	ok   bool
}

func (m *matcher) literal(s string) { m.ok = m.try(s) }

// try steps over s if it comes next.
func (m *matcher) try(s string) bool {
	end := m.at + len(s)
	if !m.ok || end > len(m.body) || string(m.body[m.at:end]) != s {
		return false
	}
	m.at = end
	return true
}

// str steps over a JSON string that is valid beyond doubt and returns where it
// was: escapes by number are left to the decoder.
func (m *matcher) str() session.Span {
	from := m.at
	m.literal(`"`)
	plain := true // ASCII
	for m.ok && m.at < len(m.body) {
		c := m.body[m.at]
		m.at++
		switch {
		case c == '"':
			m.ok = plain || utf8.Valid(m.body[from:m.at])
			return session.Span{From: uint32(from), To: uint32(m.at)}
		case c == '\\':
			m.ok = m.at < len(m.body) && bytes.IndexByte([]byte(`"\/bfnrt`), m.body[m.at]) >= 0
			m.at++
		case c < ' ':
			m.ok = false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	m.ok = false
	return session.Span{}
}
