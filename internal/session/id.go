package session

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// idBytes is the entropy of an id: 128 bits, so ids from any number of
// processes never meet.
const idBytes = 16

// NewID returns a new id "<prefix>_<26 base32 characters>", lower case, safe in
// HTTP headers and file names. Sessions use "s", turns "t", events "e".
func NewID(prefix string) string {
	var b [idBytes]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the process instead
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	return prefix + "_" + strings.ToLower(enc.EncodeToString(b[:]))
}
