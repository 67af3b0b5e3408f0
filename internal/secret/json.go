package secret

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// ReplaceJSON is Replace for the strings, names and numbers of a JSON value: it
// stays JSON, and is returned as it is when it holds no secret. The bytes of
// files in content blocks (data of an image or sound, blob of a resource) are
// left alone. What is not JSON is replaced as text.
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
	files := blobs(v)
	for {
		if k := dec.PeekKind(); k != '"' && k != '0' {
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
		if !files[dec.InputOffset()] || r.knownIn(raw) {
			clean, touched, err = r.scalar(raw)
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

// knownIn reports whether a secret stands in a text as it is. Its other forms do
// not count here: a file is delivered whole or not at all.
func (r *Redactor) knownIn(raw jsontext.Value) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for value := range r.known {
		if bytes.Contains(raw, []byte(value)) {
			return true
		}
	}
	return false
}

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
