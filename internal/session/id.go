package session

import "crypto/rand"

// idBytes is the entropy of an id: 128 bits, so ids from any number of
// processes never meet. idLen is what they are written in.
const (
	idBytes = 16
	idLen   = 26
)

// idAlphabet is base32's (RFC 4648) in lower case: safe in HTTP headers and in
// file names, also where names are compared without case.
const idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

// NewID returns a new id "<prefix>_<26 base32 characters>". Sessions use "s",
// turns "t", events "e", attachments "a", messages "m".
func NewID(prefix string) string {
	var raw [idBytes]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand aborts the process instead
	var room [32]byte
	return string(appendID(room[:0], prefix, raw[:]))
}

func appendID(dst []byte, prefix string, raw []byte) []byte {
	dst = append(dst, prefix...)
	dst = append(dst, '_')
	var acc uint
	bits := 0
	for _, b := range raw {
		acc = acc<<8 | uint(b)
		for bits += 8; bits >= 5; bits -= 5 {
			dst = append(dst, idAlphabet[acc>>(bits-5)&31])
		}
	}
	return append(dst, idAlphabet[acc<<(5-bits)&31])
}

// IDs makes ids of one prefix in blocks, for a maker of many: a block costs one
// allocation and one look at the system's entropy. It is for one goroutine.
type IDs struct {
	Prefix string
	block  string
}

// idsPerBlock keeps a block small: an id that is kept keeps its block.
const idsPerBlock = 16

// Next returns a new id, as NewID does.
func (s *IDs) Next() string {
	size := len(s.Prefix) + 1 + idLen
	if s.block == "" {
		var raw [idsPerBlock * idBytes]byte
		_, _ = rand.Read(raw[:])
		out := make([]byte, 0, idsPerBlock*size)
		for i := range idsPerBlock {
			out = appendID(out, s.Prefix, raw[i*idBytes:(i+1)*idBytes])
		}
		s.block = string(out)
	}
	id := s.block[:size]
	s.block = s.block[size:]
	return id
}
