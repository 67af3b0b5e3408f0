package acp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is the id of a request: a JSON string or integer. It keeps the literal as
// it was written, so that it is echoed byte for byte. IDs are comparable; two
// are equal when their literals are. The zero ID is no id at all.
type ID struct {
	literal string
}

// StringID returns the ID of a JSON string. Bytes of s that are not UTF-8
// become U+FFFD.
func StringID(s string) ID {
	// The only error is about bad UTF-8, which is replaced all the same.
	quoted, _ := jsontext.AppendQuote(nil, s)
	return ID{literal: string(quoted)}
}

// IntID returns the ID of a JSON integer.
func IntID(n int64) ID { return ID{literal: strconv.FormatInt(n, 10)} }

// ParseID reads an ID from its JSON literal. Anything but a string or an
// integer is refused: null, booleans, fractions, exponents, arrays, objects.
func ParseID(v jsontext.Value) (ID, error) {
	if !v.IsValid() {
		return ID{}, errors.New("a request id must be a string or an integer, not invalid JSON")
	}
	return idOf(bytes.TrimSpace(v))
}

// idOf is ParseID for a value known to be valid and without outer space.
func idOf(v jsontext.Value) (ID, error) {
	if v.Kind() == '"' || isInteger(v) {
		return ID{literal: string(v)}, nil
	}
	return ID{}, fmt.Errorf("a request id must be a string or an integer, not %s", describeKind(v))
}

// Raw returns the literal, nil for the zero ID.
func (id ID) Raw() jsontext.Value {
	if !id.IsValid() {
		return nil
	}
	return jsontext.Value(id.literal)
}

// String returns the literal as it stands on the wire.
func (id ID) String() string { return id.literal }

// IsValid reports whether id is an id, not the zero value.
func (id ID) IsValid() bool { return id.literal != "" }

// key is the id in the spelling StringID would give it. A peer may escape the
// characters of a string in its own way when it sends our id back.
func (id ID) key() ID {
	if strings.IndexByte(id.literal, '\\') < 0 {
		return id
	}
	s, err := jsontext.AppendUnquote(nil, id.literal)
	if err != nil {
		return id
	}
	return StringID(string(s))
}

// isInteger reports whether v, which is valid, is a number without fraction and exponent.
func isInteger(v jsontext.Value) bool {
	return v.Kind() == '0' && !bytes.ContainsAny(v, ".eE")
}

func describeKind(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '0':
		return "a number with a fraction or an exponent"
	case '[':
		return "an array"
	default:
		return "an object"
	}
}
