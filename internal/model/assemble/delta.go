package assemble

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Delta is a piece of streamed text, decoded from a JSON string. Servers that
// cut text between the two UTF-16 halves of a character send each half as an
// escape of its own; Delta keeps a half at either end, for Message to put
// together. JSON null and other values count as no text.
type Delta struct {
	Text string
	low  rune // half at the start, 0 if none
	high rune // half at the end, 0 if none
}

// Plain returns a delta of whole characters.
func Plain(s string) Delta { return Delta{Text: s} }

// Empty reports whether the delta carries nothing.
func (d Delta) Empty() bool { return d.Text == "" && d.low == 0 && d.high == 0 }

// UnmarshalJSONFrom decodes a JSON string.
func (d *Delta) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*d = Delta{}
	v, err := dec.ReadValue()
	if err != nil || v.Kind() != '"' {
		return err
	}
	if len(v) >= len(`"\uXXXX"`) {
		v = d.cutHalves(v)
	}
	// What is broken inside the text becomes U+FFFD; the error only says so.
	text, _ := jsontext.AppendUnquote(nil, v)
	d.Text = string(text)
	return nil
}

const escaped = len(`\uXXXX`)

// cutHalves takes unpaired halves off the ends of a quoted string.
func (d *Delta) cutHalves(v jsontext.Value) jsontext.Value {
	inner := v[1 : len(v)-1]
	cut := false
	if r, ok := half(inner, 0xDC00, 0xDFFF); ok {
		d.low, inner, cut = r, inner[escaped:], true
	}
	if tail := len(inner) - escaped; tail >= 0 && !isEscaped(inner[:tail]) {
		if r, ok := half(inner[tail:], 0xD800, 0xDBFF); ok {
			d.high, inner, cut = r, inner[:tail], true
		}
	}
	if !cut {
		return v
	}
	quoted := append(make([]byte, 0, len(inner)+2), '"')
	return append(append(quoted, inner...), '"')
}

// half reads an escape such as \ud83c at the start of s, within a range.
func half(s []byte, from, to rune) (rune, bool) {
	if len(s) < escaped || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:escaped]), 16, 16)
	r := rune(n)
	return r, err == nil && r >= from && r <= to
}

// isEscaped reports whether what follows s is escaped by a backslash at its
// end.
func isEscaped(s []byte) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// joiner puts halves from following deltas together.
type joiner struct{ high rune }

// join returns the whole characters that there are by now.
func (j *joiner) join(d Delta) string {
	if j.high == 0 && d.low == 0 && d.high == 0 {
		return d.Text
	}
	s := d.Text
	switch {
	case j.high != 0 && d.low != 0:
		s = string(utf16.DecodeRune(j.high, d.low)) + s
		j.high = 0
	case d.low != 0:
		s = string(utf8.RuneError) + s
	case j.high != 0 && s != "":
		s = string(utf8.RuneError) + s
		j.high = 0
	}
	if d.high != 0 {
		if j.high != 0 {
			s += string(utf8.RuneError)
		}
		j.high = d.high
	}
	return s
}
