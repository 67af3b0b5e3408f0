package hook

import (
	"bytes"
	"io"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// bounded keeps the beginning of what is written to it.
type bounded struct {
	kept  bytes.Buffer
	limit int
	over  bool
}

var _ io.Writer = (*bounded)(nil)

func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.limit - b.kept.Len(); n > room {
		b.over, p = true, p[:room]
	}
	_, _ = b.kept.Write(p) // to memory
	return n, nil
}

// said repeats a command's complaint on one line.
func (b *bounded) said() string {
	if text := printable.Line(strings.TrimSpace(b.kept.String())); text != "" {
		return ": " + text
	}
	return ""
}
