package model

import "bytes"

// SniffImage tells the true type of an image by its first bytes. ok is false
// for anything but PNG, JPEG, GIF and WebP, the types that every provider with
// image input takes.
func SniffImage(b []byte) (mimeType string, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png", true
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return "image/jpeg", true
	case bytes.HasPrefix(b, []byte("GIF87a")), bytes.HasPrefix(b, []byte("GIF89a")):
		return "image/gif", true
	case len(b) >= 12 && string(b[:4]) == "RIFF" && string(b[8:12]) == "WEBP":
		return "image/webp", true
	default:
		return "", false
	}
}
