package upload

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

const (
	// maxName bounds a name that is shown, in characters.
	maxName = 120
	// maxExt bounds the ending of a file name, without its dot.
	maxExt = 8
)

// Name returns the last part of a path or URI as a name that can be shown: one
// line, no slash, no control characters, of bounded length. It is "" when
// nothing is left.
func Name(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	if u, err := url.Parse(s); err == nil && strings.Contains(s, "://") {
		s = u.Path
	}
	s = strings.ReplaceAll(s, `\`, "/")
	s = printable.Line(strings.ToValidUTF8(path.Base("/"+s), "\uFFFD"))
	if s == "/" || s == "." || s == ".." {
		return ""
	}
	return shorten(s)
}

// shorten keeps the ending of a long name, which says what it is.
func shorten(s string) string {
	runes := []rune(s)
	if len(runes) <= maxName {
		return s
	}
	const tail = 20
	return string(runes[:maxName-tail-1]) + "…" + string(runes[len(runes)-tail:])
}

// ext is the ending an upload gets: that of an image's true type, else the one
// its name came with, else one for its type.
func ext(name, mimeType string) string {
	own := strings.ToLower(path.Ext(Name(name)))
	if strings.HasPrefix(mimeType, "image/") && media.Ext(mimeType) != "" && !(own == ".jpeg" && mimeType == "image/jpeg") {
		return media.Ext(mimeType)
	}
	if isExt(own) {
		return own
	}
	return cmp.Or(media.Ext(mimeType), ".bin")
}

// isExt reports whether s is a dot and a few letters and digits.
func isExt(s string) bool {
	return len(s) > 1 && len(s) <= maxExt+1 && !strings.ContainsFunc(s[1:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}
