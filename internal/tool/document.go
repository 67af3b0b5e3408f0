package tool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// document is a text file in memory: its text in UTF-8 with the line ends it
// has, and how it is encoded on disk.
type document struct {
	text string
	enc  encoding
}

// encoding is how a text file is written. The zero value is UTF-8.
type encoding struct {
	bom   string // the bytes the file starts with, kept as they are
	order binary.ByteOrder
}

// errBinary is what decodeText says of anything that is no text.
var errBinary = errors.New("it is not a text file in UTF-8 or UTF-16")

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// plain reports whether the file is UTF-8 without a mark, the one encoding a
// client's file system is sure to keep.
func (e encoding) plain() bool { return e.bom == "" }

func decodeText(data []byte) (document, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bomUTF8)):
		return decodeUTF8(data[len(bomUTF8):], encoding{bom: bomUTF8})
	case bytes.HasPrefix(data, []byte(bomUTF16LE)):
		return decodeUTF16(data[2:], encoding{bom: bomUTF16LE, order: binary.LittleEndian})
	case bytes.HasPrefix(data, []byte(bomUTF16BE)):
		return decodeUTF16(data[2:], encoding{bom: bomUTF16BE, order: binary.BigEndian})
	}
	return decodeUTF8(data, encoding{})
}

func decodeUTF8(data []byte, enc encoding) (document, error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return document{}, errBinary
	}
	return document{text: string(data), enc: enc}, nil
}

func decodeUTF16(data []byte, enc encoding) (document, error) {
	if len(data)%2 != 0 {
		return document{}, errBinary
	}
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = enc.order.Uint16(data[2*i:])
	}
	doc := document{text: string(utf16.Decode(units)), enc: enc}
	// A lone surrogate or a NUL would not come back as it was.
	if !bytes.Equal(doc.bytes(), slices.Concat([]byte(enc.bom), data)) || bytes.IndexByte([]byte(doc.text), 0) >= 0 {
		return document{}, errBinary
	}
	return doc, nil
}

// bytes returns the file as it is written.
func (d document) bytes() []byte {
	out := []byte(d.enc.bom)
	if d.enc.order == nil {
		return append(out, d.text...)
	}
	for _, u := range utf16.Encode([]rune(d.text)) {
		out = append(out, 0, 0)
		d.enc.order.PutUint16(out[len(out)-2:], u)
	}
	return out
}
