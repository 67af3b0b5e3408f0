package acp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// messageKind says what an incoming message is, and so who takes it.
type messageKind uint8

const (
	kindRequest messageKind = iota
	kindNotification
	kindResponse
	kindBare    // an id and nothing else: perhaps a response whose result was left out
	kindInvalid // answered with its fault
	kindIgnored // wrong in a way that must not be answered
)

// message is one incoming message taken apart. Its slices are parts of the
// bytes that were read.
type message struct {
	kind   messageKind
	id     ID
	method string
	params jsontext.Value // nil when absent or null
	result jsontext.Value // of a response; nil when it has none
	failed jsontext.Value // the error object of a response; nil when it has none
	fault  error          // what is wrong with an invalid message or response
	size   int64          // bytes it holds on to
}

// maxNames and maxNameBytes bound the method names a parser remembers, so that
// a peer that invents names cannot fill memory. ACP has some 60 methods.
const (
	maxNames     = 128
	maxNameBytes = 64
)

// parser takes messages apart without copying them. It serves one goroutine.
type parser struct {
	dec   jsontext.Decoder
	in    bytes.Buffer
	names map[string]string // method names seen, so that each is allocated once
}

// fields are the members of a message that JSON-RPC knows, as raw JSON.
type fields struct {
	version, id, method, params, result, failed jsontext.Value

	twice bool // one of them occurs more than once
}

// parse takes raw apart by the envelope rules of JSON-RPC 2.0 and ACP.
func (p *parser) parse(raw jsontext.Value) message {
	m := p.classify(raw)
	m.size = int64(len(raw))
	return m
}

func (p *parser) classify(raw jsontext.Value) message {
	f, err := p.split(raw)
	if err != nil {
		return p.refused(raw, err)
	}
	id, idErr := ID{}, error(nil)
	if f.id != nil {
		id, idErr = idOf(f.id)
	}
	switch {
	case f.method != nil:
		return p.classifyCall(f, id, idErr)
	case f.result != nil || f.failed != nil:
		return classifyResponse(f, id)
	}
	m := invalid(ID{}, "not a JSON-RPC message: it has no method, result or error")
	if isVersion(f.version) && id.IsValid() {
		m.kind, m.id = kindBare, id
	}
	return m
}

// refused finds out whose message it is that was refused with fault. One that is
// JSON, though with a member twice or half of a surrogate pair, does not hide who
// waits for an answer: many programs cut text in the middle of a character.
func (p *parser) refused(raw jsontext.Value, fault error) message {
	m := message{kind: kindInvalid, fault: asFault(fault)}
	if !utf8.Valid(raw) {
		return m
	}
	p.in = *bytes.NewBuffer(raw)
	p.dec.Reset(&p.in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if p.dec.PeekKind() != '{' {
		return m
	}
	f, err := p.members()
	if err != nil || p.end(nil) != nil || f.twice || !isVersion(f.version) || f.id == nil {
		return m
	}
	id, err := idOf(f.id)
	switch {
	case err != nil:
	case f.method != nil:
		return invalid(id, "invalid request: %s", parseHint(fault))
	case f.result != nil || f.failed != nil:
		m.kind, m.id = kindResponse, id
		m.fault = errors.New("the peer's answer cannot be read: " + parseHint(fault))
	}
	return m
}

// classifyCall classifies a message that has a method.
func (p *parser) classifyCall(f fields, id ID, idErr error) message {
	switch {
	case idErr != nil:
		return invalid(ID{}, "%v", idErr)
	case !isVersion(f.version) && !id.IsValid():
		return message{kind: kindIgnored}
	case !isVersion(f.version):
		return invalid(id, `jsonrpc must be "2.0"`)
	case f.method.Kind() != '"':
		return invalid(id, "method must be a string")
	}
	m := message{kind: kindRequest, id: id, method: p.name(f.method), params: f.params}
	if !id.IsValid() {
		m.kind = kindNotification
	}
	if m.params.Kind() == 'n' {
		m.params = nil
	}
	return m
}

// classifyResponse classifies a message that has a result or an error and no method.
// Responses are never answered, however broken.
func classifyResponse(f fields, id ID) message {
	if !isVersion(f.version) || !id.IsValid() {
		return message{kind: kindIgnored}
	}
	m := message{kind: kindResponse, id: id, result: f.result, failed: f.failed}
	hasError := f.failed != nil && f.failed.Kind() != 'n'
	hasResult := f.result != nil && (f.result.Kind() != 'n' || f.failed == nil)
	switch {
	case hasError && hasResult:
		m.fault = errors.New("the peer answered with both a result and an error")
	case hasError && f.failed.Kind() != '{':
		m.fault = errors.New("the peer answered with an error that is not an object")
	case !hasError && f.result == nil:
		m.fault = errors.New("the peer answered with neither a result nor an error")
	case !hasError:
		m.failed = nil
	}
	return m
}

func invalid(id ID, format string, args ...any) message {
	return message{kind: kindInvalid, id: id, fault: Errorf(CodeInvalidRequest, format, args...)}
}

// isVersion reports whether v is the string 2.0.
func isVersion(v jsontext.Value) bool { return string(v) == `"2.0"` }

// split validates raw as a whole and returns the members JSON-RPC knows. The
// error is the decoder's or an *Error.
func (p *parser) split(raw jsontext.Value) (fields, error) {
	p.in = *bytes.NewBuffer(raw)
	p.dec.Reset(&p.in)
	switch kind := p.dec.PeekKind(); kind {
	case '{':
		f, err := p.members()
		if err == nil {
			err = p.end(nil)
		}
		return f, err
	case '[':
		return fields{}, p.only(Errorf(CodeInvalidRequest, "JSON-RPC batches are not supported"))
	default:
		return fields{}, p.only(Errorf(CodeInvalidRequest, "not a JSON-RPC message: it is not an object"))
	}
}

// only reads the one value of a message and returns then.
func (p *parser) only(then error) error {
	if err := p.dec.SkipValue(); err != nil {
		return err
	}
	return p.end(then)
}

// members reads the members of the object that comes next.
func (p *parser) members() (fields, error) {
	var f fields
	if _, err := p.dec.ReadToken(); err != nil {
		return f, err
	}
	for p.dec.PeekKind() != '}' {
		name, err := p.dec.ReadValue()
		if err != nil {
			return f, err
		}
		value, err := p.dec.ReadValue()
		if err != nil {
			return f, err
		}
		if field := f.member(name); field != nil {
			f.twice = f.twice || *field != nil
			*field = value
		}
	}
	_, err := p.dec.ReadToken()
	return f, err
}

// member returns the field for a quoted member name, nil for any other.
func (f *fields) member(name jsontext.Value) *jsontext.Value {
	if bytes.IndexByte(name, '\\') >= 0 {
		plain, _ := jsontext.AppendUnquote(nil, name)
		name = append(append([]byte{'"'}, plain...), '"')
	}
	switch string(name) {
	case `"jsonrpc"`:
		return &f.version
	case `"id"`:
		return &f.id
	case `"method"`:
		return &f.method
	case `"params"`:
		return &f.params
	case `"result"`:
		return &f.result
	case `"error"`:
		return &f.failed
	default:
		return nil
	}
}

// truncated makes out from its first bytes what a message over the limit is:
// a request is answered under its id, a response fails the call it belongs to.
func (p *parser) truncated(e *MessageTooLargeError) message {
	m := message{kind: kindInvalid, fault: e, size: int64(len(e.Head))}
	p.in = *bytes.NewBuffer(e.Head)
	p.dec.Reset(&p.in)
	if token, err := p.dec.ReadToken(); err != nil || token.Kind() != '{' {
		return m
	}
	var f, complete fields
	for {
		name, err := p.dec.ReadValue()
		if err != nil {
			break
		}
		complete = f // the last value may have been cut, the ones before it not
		field := f.member(name)
		if field == &f.result || field == &f.failed {
			m.kind = kindResponse
		}
		value, err := p.dec.ReadValue()
		if err != nil {
			break
		}
		if field != nil {
			*field = value
		}
	}
	if complete.id != nil && isVersion(complete.version) {
		m.id, _ = idOf(complete.id)
	}
	switch {
	case complete.method != nil:
		m.kind = kindInvalid
	case m.kind == kindResponse && !m.id.IsValid():
		m.kind = kindIgnored
	case m.kind == kindInvalid:
		m.id = ID{}
	}
	return m
}

// end returns then if nothing but the end of the message follows.
func (p *parser) end(then error) error {
	_, err := p.dec.ReadToken()
	switch {
	case err == io.EOF:
		return then
	case err == nil:
		return errors.New("more than one JSON value")
	default:
		return err
	}
}

// asFault turns any error but an *Error into a parse error. The decoder's own
// text stays out of it: it quotes the message.
func asFault(err error) error {
	if err == nil {
		return nil
	}
	var fault *Error
	if errors.As(err, &fault) {
		return fault
	}
	return Errorf(CodeParseError, "Parse error: %s", parseHint(err))
}

// parseHint says what is wrong with a JSON text and where, without its text.
func parseHint(err error) string {
	var syntax *jsontext.SyntacticError
	switch {
	case !errors.As(err, &syntax):
		return err.Error()
	case errors.Is(err, jsontext.ErrDuplicateName):
		return Errorf(0, "duplicate object member at byte %d", syntax.ByteOffset).Message
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Errorf(0, "the message ends early, at byte %d", syntax.ByteOffset).Message
	case notUnicode(syntax.Err):
		return Errorf(0, "text that is not valid Unicode at byte %d", syntax.ByteOffset).Message
	default:
		return Errorf(0, "invalid JSON at byte %d", syntax.ByteOffset).Message
	}
}

// notUnicode recognises the decoder's errors for bad UTF-8 and for half a
// surrogate pair, which have no names of their own.
func notUnicode(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return strings.HasPrefix(text, "invalid UTF-8") || strings.HasPrefix(text, "invalid surrogate pair")
}

// name unquotes a method name.
func (p *parser) name(quoted jsontext.Value) string {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') >= 0 {
		plain, _ = jsontext.AppendUnquote(nil, quoted)
	}
	if s, ok := p.names[string(plain)]; ok {
		return s
	}
	s := string(plain)
	if len(p.names) < maxNames && len(s) <= maxNameBytes {
		if p.names == nil {
			p.names = make(map[string]string)
		}
		p.names[s] = s
	}
	return s
}
