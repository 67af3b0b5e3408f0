package session

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest key or label, in bytes.
const maxName = 200

// keyAgent begins the keys that say whose agent's session they name.
const keyAgent = "agent:"

// The last but one part of keys that nobody chose.
const (
	KeyACP      = "acp"      // made by a client
	KeySubagent = "subagent" // made by an agent for its subagent
)

// NewKey returns the key of a session that nobody gave one:
// "agent:<alias>:<kind>:<uuid>".
func NewKey(agent, kind string) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the process instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%s%s:%s:%x-%x-%x-%x-%x", keyAgent, agent, kind, b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// KeyAgent checks a session key and returns the alias of the agent it names,
// "" for a key that names none. A key is up to 200 bytes of printable text
// without blanks at its ends; one that begins with "agent:" goes on with an alias,
// a colon and more. Errors are InvalidErrors.
func KeyAgent(key string) (alias string, err error) {
	if err := checkName("session key", key); err != nil {
		return "", err
	}
	rest, ok := strings.CutPrefix(key, keyAgent)
	if !ok {
		return "", nil
	}
	alias, rest, ok = strings.Cut(rest, ":")
	if !ok || alias == "" || rest == "" {
		return "", Invalidf("session key %q must read agent:<alias>:<name>", key)
	}
	return alias, nil
}

// CheckLabel checks a session label: text like that of a key. Errors are
// InvalidErrors.
func CheckLabel(label string) error { return checkName("session label", label) }

func checkName(what, name string) error {
	switch {
	case name == "":
		return Invalidf("a %s must not be empty", what)
	case len(name) > maxName:
		return Invalidf("a %s is at most %d bytes long, not %d", what, maxName, len(name))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return Invalidf("a %s must be printable text, not %q", what, name)
	case strings.TrimSpace(name) != name:
		return Invalidf("a %s must not begin or end with a blank, as %q does", what, name)
	}
	return nil
}
