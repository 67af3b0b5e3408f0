// Package media tells what bytes are: which image, which sound, which type of
// file. Labels that come with them are hints, never facts; a provider that gets
// a picture under the wrong label refuses every later turn of a session.
package media

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
)

// Image returns the type of an image by its first bytes. ok is false for
// anything but PNG, JPEG, GIF and WebP, the types that every provider with
// image input takes.
func Image(b []byte) (mimeType string, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png", true
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg", true
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif", true
	case container(b, "RIFF", "WEBP"):
		return "image/webp", true
	}
	return "", false
}

// Audio returns the type of a sound by its first bytes. ok is false for
// anything but WAV, MP3, FLAC, Ogg, AIFF and MPEG-4.
func Audio(b []byte) (mimeType string, ok bool) {
	switch {
	case container(b, "RIFF", "WAVE"):
		return "audio/wav", true
	case bytes.HasPrefix(b, []byte("ID3")), isMP3Frame(b):
		return "audio/mpeg", true
	case bytes.HasPrefix(b, []byte("fLaC")):
		return "audio/flac", true
	case bytes.HasPrefix(b, []byte("OggS\x00")):
		return "audio/ogg", true
	case container(b, "FORM", "AIFF"), container(b, "FORM", "AIFC"):
		return "audio/aiff", true
	case len(b) >= 12 && string(b[4:8]) == "ftyp" && string(b[8:11]) == "M4A":
		return "audio/mp4", true
	}
	return "", false
}

// container reports a file that begins with a tag, four bytes of length and the
// tag of what is inside.
func container(b []byte, outer, inner string) bool {
	return len(b) >= 12 && string(b[:4]) == outer && string(b[8:12]) == inner
}

// isMP3Frame reports the header of an MPEG audio frame of layer III whose
// bit rate and sampling rate are not the reserved ones.
func isMP3Frame(b []byte) bool {
	return len(b) >= 4 && b[0] == 0xff && b[1]&0xe6 == 0xe2 && b[1]&0x18 != 0x08 &&
		b[2]&0xf0 != 0xf0 && b[2]&0xf0 != 0 && b[2]&0x0c != 0x0c
}

// Type returns the MIME type of a file, without parameters: what its bytes say
// where they say it clearly, else the label where that can be true, else a
// guess. It is never empty.
func Type(b []byte, label string) string {
	if t, ok := Image(b); ok {
		return t
	}
	if t, ok := Audio(b); ok {
		return t
	}
	guess, _, _ := strings.Cut(http.DetectContentType(b), ";")
	t, _, err := mime.ParseMediaType(label)
	switch {
	case err != nil || !strings.Contains(t, "/") || t == "application/octet-stream":
		return guess
	case sniffed(t) && t != guess:
		return guess
	}
	return t
}

// sniffed reports types that Type would have found by itself.
func sniffed(t string) bool {
	switch t {
	case "image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/bmp",
		"audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "application/pdf":
		return true
	}
	return false
}

// Ext returns the usual ending of file names of a type, with its dot, or "".
// The table is ours because the system's differ.
func Ext(mimeType string) string {
	switch mimeType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/svg+xml":
		return ".svg"
	case "audio/wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	case "audio/flac":
		return ".flac"
	case "audio/ogg":
		return ".ogg"
	case "audio/aiff":
		return ".aiff"
	case "audio/mp4":
		return ".m4a"
	}
	return documentExt(mimeType)
}

func documentExt(mimeType string) string {
	switch mimeType {
	case "application/pdf":
		return ".pdf"
	case "application/json":
		return ".json"
	case "application/zip":
		return ".zip"
	case "text/plain":
		return ".txt"
	case "text/markdown":
		return ".md"
	case "text/html":
		return ".html"
	case "text/csv":
		return ".csv"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return ".docx"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return ".xlsx"
	case "application/vnd.openxmlformats-officedocument.presentationml.presentation":
		return ".pptx"
	}
	return ""
}
