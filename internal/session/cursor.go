package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// cursorSum is how many bytes of a cursor tell that it is one, and of which
// filter's list.
const cursorSum = 12

// NewCursor makes a list cursor of a place in the order of a filter's sessions,
// which only the ledger reads. It keeps no secret; it only tells what was changed
// or belongs to another list.
func NewCursor(f Filter, place []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(sumOf(f, place), place...))
}

// PlaceOf returns the place of a cursor that NewCursor made for the same filter.
// Anything else is ErrBadCursor.
func PlaceOf(f Filter, cursor string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < cursorSum || strings.ContainsAny(cursor, "\r\n") { // which the decoder skips
		return nil, ErrBadCursor
	}
	sum, place := b[:cursorSum], b[cursorSum:]
	if !bytes.Equal(sum, sumOf(f, place)) {
		return nil, ErrBadCursor
	}
	return place, nil
}

func sumOf(f Filter, place []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "grapnel session list %q %q %d %t %t %x",
		[]string{f.Owner, f.Agent, f.Cwd, f.Key, f.Label, f.Parent}, f.Agents, f.Archived, f.Subagents, f.Shared, place)
	return h.Sum(nil)[:cursorSum]
}
