package secret

import (
	"bytes"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ReplaceJSON is Replace for the strings, names and numbers of a JSON value: it
// stays JSON, and is returned as it is when it holds no secret. The bytes of
// files (members data and blob in base64) are left alone. What is not JSON is
// replaced as text.
func (r *Redactor) ReplaceJSON(v jsontext.Value) jsontext.Value {
	if r == nil || len(v) == 0 {
		return v
	}
	m := r.now.Load()
	if m == nil || !m.touches(string(v)) && !disguises(v) {
		return v // nothing in it can be a part of a secret, however it is cut
	}
	out, changed, err := r.rewrite(v)
	switch {
	case err != nil:
		if clean := r.Replace(string(v)); clean != string(v) {
			return jsontext.Value(clean)
		}
		return v
	case !changed:
		return v
	}
	return out
}

// disguises reports escapes by which JSON may hold a secret in none of its forms:
// of a character that needs none, and of a backslash.
func disguises(v jsontext.Value) bool {
	for rest := []byte(v); ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			return false
		}
		switch rest[i+1] {
		case 'u', '/', '\\':
			return true
		}
		rest = rest[i+2:]
	}
}

func (r *Redactor) rewrite(v jsontext.Value) (jsontext.Value, bool, error) {
	var out bytes.Buffer
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	dec := jsontext.NewDecoder(bytes.NewReader(v), lenient...)
	enc := jsontext.NewEncoder(&out, append(lenient, jsontext.PreserveRawStrings(true))...)
	changed := false
	name := "" // of the member whose value is next
	for {
		isName := nextIsName(dec)
		if k := dec.PeekKind(); k != '"' && k != '0' {
			name = ""
			token, err := dec.ReadToken()
			if err == io.EOF {
				return bytes.TrimSuffix(out.Bytes(), []byte("\n")), changed, nil
			}
			if err == nil {
				err = enc.WriteToken(token)
			}
			if err != nil {
				return nil, false, err
			}
			continue
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, false, err
		}
		clean, touched := raw, false
		if !r.isBlob(name, raw) {
			clean, touched, err = r.scalar(raw)
		}
		if name = ""; isName {
			name = string(raw)
		}
		if err == nil {
			err = enc.WriteValue(clean)
		}
		if err != nil {
			return nil, false, err
		}
		changed = changed || touched
	}
}

// nextIsName reports whether dec is in an object, before a name.
func nextIsName(dec *jsontext.Decoder) bool {
	kind, n := dec.StackIndex(dec.StackDepth())
	return kind == '{' && n%2 == 0
}

// isBlob reports whether a member holds the bytes of a file, as content blocks
// do: a file is delivered whole or not at all.
func (r *Redactor) isBlob(name string, raw jsontext.Value) bool {
	if name != `"blob"` && name != `"data"` {
		return false
	}
	text := strings.Trim(string(raw), `"`)
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(text)%4 == 0 && !r.known[text] && strings.Trim(text, base64Alphabet) == ""
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="

// scalar redacts a string or a number; one with a secret in it becomes a string.
func (r *Redactor) scalar(raw jsontext.Value) (jsontext.Value, bool, error) {
	text := string(raw)
	if raw[0] == '"' {
		unquoted, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, false, err
		}
		text = string(unquoted)
	}
	clean := r.Replace(text)
	if clean == text {
		return raw, false, nil
	}
	quoted, err := jsontext.AppendQuote(nil, clean)
	return quoted, true, err
}
