package secret

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// blobs returns where the bytes of files end in a JSON value: data of an image
// or sound, and blob of a resource, in base64 (ACP v1 ContentBlock).
func blobs(v jsontext.Value) map[int64]bool {
	if !bytes.Contains(v, []byte(`"data"`)) && !bytes.Contains(v, []byte(`"blob"`)) {
		return nil
	}
	s := blobScan{found: make(map[int64]bool)}
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind := dec.PeekKind()
		if kind == '"' {
			isName := nextIsName(dec)
			raw, err := dec.ReadValue()
			if err != nil {
				return s.found
			}
			s.text(isName, string(raw), dec.InputOffset())
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			return s.found // the end, or what is not JSON
		}
		s.token(kind)
	}
}

// nextIsName reports whether dec is in an object, before a name.
func nextIsName(dec *jsontext.Decoder) bool {
	kind, n := dec.StackIndex(dec.StackDepth())
	return kind == '{' && n%2 == 0
}

// blobScan gathers blobs. What an object is shows only at its end.
type blobScan struct {
	open  []content // objects and arrays around the next token
	found map[int64]bool
}

// content is an object, as far as it is known.
type content struct {
	name       string // of the member whose value is next, as it is written
	data, blob int64  // where they end, 0 while there are none
	media, uri bool   // it is an image or a sound; it has an address
}

func (s *blobScan) token(kind jsontext.Kind) {
	switch kind {
	case '{', '[':
		s.open = append(s.open, content{})
	case '}', ']':
		s.close()
	}
}

func (s *blobScan) close() {
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if c.data > 0 && c.media {
		s.found[c.data] = true
	}
	if c.blob > 0 && c.uri {
		s.found[c.blob] = true
	}
}

// text takes a name or a string that ends at an offset.
func (s *blobScan) text(isName bool, raw string, end int64) {
	if len(s.open) == 0 {
		return
	}
	c := &s.open[len(s.open)-1]
	if isName {
		c.name = raw
		return
	}
	switch c.name {
	case `"type"`:
		c.media = raw == `"image"` || raw == `"audio"`
	case `"uri"`:
		c.uri = true
	case `"data"`:
		if isBase64(raw) {
			c.data = end
		}
	case `"blob"`:
		if isBase64(raw) {
			c.blob = end
		}
	}
}

func isBase64(raw string) bool {
	text := strings.Trim(raw, `"`)
	return len(text)%4 == 0 && strings.Trim(text, base64Alphabet) == ""
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
