package tool

import (
	"bytes"
	"testing"
)

func TestDecodeText(t *testing.T) {
	for name, tc := range map[string]struct {
		data  string
		text  string
		plain bool
	}{
		"empty":     {"", "", true},
		"utf-8":     {"héllo\r\n", "héllo\r\n", true},
		"utf-8 bom": {"\xEF\xBB\xBFa", "a", false},
		"utf-16le":  {"\xFF\xFEa\x00\x3d\xd8\x00\xde", "a😀", false},
		"utf-16be":  {"\xFE\xFF\x00a\x4f\x60", "a你", false},
	} {
		doc, err := decodeText([]byte(tc.data))
		if err != nil || doc.text != tc.text || doc.enc.plain() != tc.plain || string(doc.bytes()) != tc.data {
			t.Errorf("%s: %+v, %v, back %q", name, doc, err, doc.bytes())
		}
	}
	for name, data := range map[string]string{
		"latin-1":        "caf\xe9",
		"nul":            "a\x00b",
		"odd utf-16":     "\xFF\xFEa",
		"lone surrogate": "\xFF\xFE\x3d\xd8",
		"png":            "\x89PNG\r\n\x1a\n",
	} {
		if doc, err := decodeText([]byte(data)); err == nil {
			t.Errorf("%s is taken for %q", name, doc.text)
		}
	}
}

func FuzzDecodeText(f *testing.F) {
	f.Add([]byte("\xFF\xFEa\x00"))
	f.Add([]byte("\xEF\xBB\xBF\xEF\xBB\xBF"))
	f.Add([]byte("\xFE\xFF\xFE\xFF"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := decodeText(data)
		if err == nil && !bytes.Equal(doc.bytes(), data) {
			t.Fatalf("%q comes back as %q", data, doc.bytes())
		}
	})
}
