package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Path names a setting: the parts of a dotted TOML key.
type Path []string

// ParsePath reads a dotted key, such as agents.main.model. Parts that hold
// dots or other characters are quoted as in TOML.
func ParsePath(s string) (Path, error) {
	var p Path
	for rest := s; ; {
		part, tail, err := cutPart(rest)
		if err != nil {
			return nil, fmt.Errorf("%q is not a setting's name: %w", s, err)
		}
		p = append(p, part)
		if tail == "" {
			return p, nil
		}
		rest = tail[1:]
	}
}

func cutPart(s string) (part, rest string, err error) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		end := strings.IndexByte(s[1:], s[0])
		if end < 0 {
			return "", "", errors.New("a quote is not closed")
		}
		part, rest = s[1:1+end], s[end+2:]
	} else {
		end := strings.IndexByte(s, '.')
		if end < 0 {
			end = len(s)
		}
		part, rest = s[:end], s[end:]
		if strings.TrimSpace(part) == "" {
			return "", "", errors.New("a part is empty")
		}
	}
	if rest != "" && rest[0] != '.' {
		return "", "", errors.New("a dot is missing after a quoted part")
	}
	return part, rest, nil
}

// String writes the path as a dotted key, quoting parts where TOML needs it.
func (p Path) String() string {
	parts := make([]string, len(p))
	for i, part := range p {
		parts[i] = quoteKey(part)
	}
	return strings.Join(parts, ".")
}

// with returns the path one part longer; p is not shared.
func (p Path) with(part string) Path { return append(slices.Clip(p), part) }

func (p Path) hasPrefix(prefix Path) bool {
	return len(p) >= len(prefix) && slices.Equal(p[:len(prefix)], prefix)
}

func quoteKey(s string) string {
	if s != "" && strings.IndexFunc(s, notBare) < 0 {
		return s
	}
	return quote(s)
}

func notBare(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}

// quote writes s as a TOML basic string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
