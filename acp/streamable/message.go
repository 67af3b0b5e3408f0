package streamable

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// head is what routing needs to know of a message.
type head struct {
	id       string // the id's key, empty when it has none that can be answered
	idLength int    // bytes of its literal
	method   string // empty when it has none
	session  string // params.sessionId
	named    bool   // there is a params.sessionId, be it empty
	response bool   // no method, but a result or an error
	array    bool
	object   bool
}

var (
	errNotUTF8   = errors.New("the message is not UTF-8")
	errMoreAfter = errors.New("more than one JSON value")
)

// scanner reads the heads of messages. It may be used by any goroutine.
type scanner struct{ decoders sync.Pool }

// decoder is a JSON decoder with its input.
type decoder struct {
	jsontext.Decoder
	in bytes.Buffer
}

// scan reads the head of raw, which must be one JSON value. Members that occur
// twice pass: the engine refuses them, under the request's own id.
func (s *scanner) scan(raw []byte) (head, error) {
	if !utf8.Valid(raw) {
		return head{}, errNotUTF8
	}
	d, ok := s.decoders.Get().(*decoder)
	if !ok {
		d = new(decoder)
	}
	defer func() {
		d.in = bytes.Buffer{} // do not hold on to the message
		s.decoders.Put(d)
	}()
	d.in = *bytes.NewBuffer(raw)
	d.Reset(&d.in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	h, err := d.head()
	if err != nil {
		return head{}, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return head{}, errMoreAfter
	}
	return h, nil
}

// head reads the one value of a message.
func (d *decoder) head() (head, error) {
	switch d.PeekKind() {
	case '[':
		return head{array: true}, d.SkipValue()
	case '{':
	default:
		return head{}, d.SkipValue()
	}
	h := head{object: true}
	answers := false
	err := d.members(func(name []byte) error {
		switch string(name) {
		case "id":
			return d.readID(&h)
		case "method":
			return d.readString(&h.method)
		case "params":
			return d.readParams(&h)
		case "result", "error":
			answers = true
		}
		return d.SkipValue()
	})
	h.response = answers && h.method == ""
	return h, err
}

// members calls f for each member of the object that comes next. f reads the value,
// and then the name is gone.
func (d *decoder) members(f func(name []byte) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		quoted, err := d.ReadValue()
		if err != nil {
			return err
		}
		name := []byte(quoted[1 : len(quoted)-1])
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = jsontext.AppendUnquote(nil, quoted)
		}
		if err := f(name); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// readID reads an id. Two spellings of one string have the same key.
func (d *decoder) readID(h *head) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	h.id, h.idLength = "", len(raw)
	switch raw.Kind() {
	case '"':
		plain, _ := jsontext.AppendUnquote([]byte{'"'}, raw)
		h.id = string(plain)
	case '0':
		h.id = string(raw)
	}
	return nil
}

// readString reads a string, and skips anything else.
func (d *decoder) readString(s *string) error {
	if d.PeekKind() != '"' {
		return d.SkipValue()
	}
	token, err := d.ReadToken()
	if err == nil {
		*s = token.String()
	}
	return err
}

func (d *decoder) readParams(h *head) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	return d.members(func(name []byte) error {
		if string(name) != "sessionId" {
			return d.SkipValue()
		}
		h.named = h.named || d.PeekKind() == '"'
		return d.readString(&h.session)
	})
}

// aboutSession reports whether method needs the header of its session, even
// without a params.sessionId.
func aboutSession(method string) bool {
	switch method {
	case "session/cancel", "session/close", "session/delete", "session/fork", methodLoad, "session/prompt",
		"session/resume", "session/set_config_option", "session/set_mode", "session/set_model":
		return true
	}
	return false
}

const (
	methodInitialize = "initialize"
	methodLoad       = "session/load"
)
