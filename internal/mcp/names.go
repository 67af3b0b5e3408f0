package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	// maxName is the longest name of a tool that all model providers take.
	maxName = 64
	// maxPrefix is the longest part of it that names the server.
	maxPrefix = 24
	// separator stands between server and tool, and in no server's part.
	separator = "__"
	// hashLength is how many hex digits tell apart names that had to be changed.
	hashLength = 8
)

// prefixOf is the part of tool names that stands for a server. It holds letters,
// digits, - and single _, begins with a letter, and never holds the separator,
// so that no server can take a name of another's.
func prefixOf(server string) string {
	var b strings.Builder
	for _, r := range server {
		if !isNameRune(r) {
			r = '_'
		}
		if r == '_' && (b.Len() == 0 || strings.HasSuffix(b.String(), "_")) {
			continue
		}
		b.WriteRune(r)
	}
	s := strings.TrimRight(b.String(), "_")
	if s == "" || !isLetter(rune(s[0])) {
		s = "mcp_" + strings.TrimLeft(s, "-_")
		s = strings.TrimRight(s, "_")
	}
	if len(s) > maxPrefix {
		s = strings.TrimRight(s[:maxPrefix-hashLength-1], "_") + "_" + hashOf(server)
	}
	return s
}

// prefixes gives each server a prefix of its own, in order: of two alike the
// later gets a number.
func prefixes(list []Server) []string {
	taken := make(map[string]bool, len(list))
	out := make([]string, len(list))
	for i, s := range list {
		base := prefixOf(s.Name)
		name := base
		for n := 2; taken[name]; n++ {
			suffix := "_" + strconv.Itoa(n)
			name = strings.TrimRight(base[:min(len(base), maxPrefix-len(suffix))], "_") + suffix
		}
		taken[name] = true
		out[i] = name
	}
	return out
}

// toolName is what the model calls a server's tool by. It depends on nothing but
// its two arguments: a tool keeps its name whatever else the server offers, and
// one whose own name had to be changed carries a hash of it, so that what was
// allowed for one tool never holds for another.
func toolName(prefix, tool string) string {
	var b strings.Builder
	for _, r := range tool {
		if !isNameRune(r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	name := prefix + separator + b.String()
	if b.String() == tool && tool != "" && len(name) <= maxName {
		return name
	}
	return name[:min(len(name), maxName-hashLength-1)] + "_" + hashOf(tool)
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:hashLength]
}

func isNameRune(r rune) bool {
	return isLetter(r) || r >= '0' && r <= '9' || r == '_' || r == '-'
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
