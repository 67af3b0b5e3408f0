package session

import "crypto/rand"

// idBytes is the entropy of an id: 128 bits, so ids from any number of
// processes never meet.
const idBytes = 16

// idAlphabet is base32's (RFC 4648) in lower case: safe in HTTP headers and in
// file names, also where names are compared without case.
const idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewID returns a new id "<prefix>_<26 base32 characters>". Sessions use "s",
// turns "t", events "e", attachments "a", messages "m".
func NewID(prefix string) string {
	var raw [idBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand aborts the process instead
	out := make([]byte, 0, len(prefix)+1+26)
	out = append(out, prefix...)
	out = append(out, '_')
	var acc uint
	bits := 0
	for _, b := range raw {
		acc = acc<<8 | uint(b)
		for bits += 8; bits >= 5; bits -= 5 {
			out = append(out, idAlphabet[acc>>(bits-5)&31])
		}
	}
	return string(append(out, idAlphabet[acc<<(5-bits)&31]))
}
