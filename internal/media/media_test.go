package media_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/media"
)

func TestImage(t *testing.T) {
	for in, want := range map[string]string{
		"\x89PNG\r\n\x1a\n....":    "image/png",
		"\xff\xd8\xff\xe0":         "image/jpeg",
		"GIF89a":                   "image/gif",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp",
		"RIFF\x00\x00\x00\x00WAVE": "",
		"<svg>":                    "",
		"BM\x00\x00":               "",
		"":                         "",
		"\x89PNG":                  "",
	} {
		if got, ok := media.Image([]byte(in)); got != want || ok != (want != "") {
			t.Errorf("Image(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestAudio(t *testing.T) {
	for in, want := range map[string]string{
		"RIFF\x00\x00\x00\x00WAVE":         "audio/wav",
		"ID3\x04":                          "audio/mpeg",
		"\xff\xfb\x90\x00":                 "audio/mpeg",
		"\xff\xfb\xf0\x00":                 "", // a reserved bit rate
		"\xff\xd8\xff\xe0":                 "", // a JPEG
		"fLaC":                             "audio/flac",
		"OggS\x00":                         "audio/ogg",
		"FORM\x00\x00\x00\x00AIFF":         "audio/aiff",
		"\x00\x00\x00\x20ftypM4A \x00\x00": "audio/mp4",
		"RIFF\x00\x00\x00\x00WEBP":         "",
		"hello":                            "",
		"":                                 "",
	} {
		if got, ok := media.Audio([]byte(in)); got != want || ok != (want != "") {
			t.Errorf("Audio(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestTypeBelievesBytesBeforeLabels(t *testing.T) {
	for _, c := range []struct{ data, label, want string }{
		{"\x89PNG\r\n\x1a\n", "image/jpeg", "image/png"},
		{"\x89PNG\r\n\x1a\n", "application/pdf", "image/png"},
		{"hello", "image/png", "text/plain"},
		{"hello", "application/pdf", "text/plain"},
		{"hello", "text/markdown; charset=utf-8", "text/markdown"},
		{"a,b", "text/csv", "text/csv"},
		{"%PDF-1.7", "application/octet-stream", "application/pdf"},
		{"%PDF-1.7", "", "application/pdf"},
		{"PK\x03\x04", "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"},
		{"hello", "nonsense", "text/plain"},
		{"\x00\x01", "\n;;", "application/octet-stream"},
		{"", "", "text/plain"},
	} {
		if got := media.Type([]byte(c.data), c.label); got != c.want {
			t.Errorf("Type(%q, %q) = %q, want %q", c.data, c.label, got, c.want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, in := range []string{
		"aGVsbG8_Pw==", "aGVsbG8/Pw", "aGVs\r\nbG8/\tPw= =", "data:text/plain;base64,aGVsbG8/Pw==", " DATA:;base64,aGVsbG8/Pw",
	} {
		if got, err := media.Decode(in); err != nil || string(got) != "hello??" {
			t.Errorf("Decode(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "!!!!", "=", "a", "aGVsbG8*", "data:text/plain", "aGVs=bG8", "data:,"} {
		if got, err := media.Decode(in); !errors.Is(err, media.ErrNotBase64) {
			t.Errorf("Decode(%q) = %q, %v", in, got, err)
		}
	}
}

func TestDecodeLimit(t *testing.T) {
	if got, err := media.Decode(base64.StdEncoding.EncodeToString(make([]byte, media.MaxBytes))); err != nil || len(got) != media.MaxBytes {
		t.Errorf("the limit itself: %d bytes, %v", len(got), err)
	}
	_, err := media.Decode(base64.StdEncoding.EncodeToString(make([]byte, media.MaxBytes+1)))
	if !errors.Is(err, media.ErrTooLarge) || !strings.Contains(err.Error(), "10485761 bytes; at most 10485760") {
		t.Errorf("one byte more: %v", err)
	}
}

// FuzzDecode: what is decoded encodes to something that decodes to the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"aGVsbG8=", "data:;base64,aGVsbG8", "a-_b", "!!!!", "=", " \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data, err := media.Decode(s)
		if err != nil {
			return
		}
		again, err := media.Decode(base64.StdEncoding.EncodeToString(data))
		if err != nil || string(again) != string(data) {
			t.Errorf("%q became %q and then %q, %v", s, data, again, err)
		}
	})
}

// FuzzType: a type is never empty, and a picture is never called anything else.
func FuzzType(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBP"), "text/plain")
	f.Add([]byte("\xff\xfb\x90\x00"), "image/png")
	f.Fuzz(func(t *testing.T, b []byte, label string) {
		got := media.Type(b, label)
		image, isImage := media.Image(b)
		if got == "" || isImage && got != image {
			t.Errorf("Type(%q, %q) = %q", b, label, got)
		}
	})
}
