package ws

import (
	"crypto/rand"
	"encoding/binary"
)

// The opcodes of RFC 6455, section 5.2, that are written here. The last frame of
// a message has the bit fin set, and here every frame is the last.
const (
	fin    = 0x80
	opText = 0x1
	opPing = 0x9
	opPong = 0xa
	masked = 0x80
)

const (
	// maxHeaderBytes is the longest header of a frame.
	maxHeaderBytes = 14
	// controlBytes is room for any control frame, and so each is written whole.
	controlBytes = 256
)

// appendHeader appends the header of a frame with n bytes of payload. A frame of
// a client has a mask; a server's has none.
func appendHeader(b []byte, opcode byte, n int, mask *[4]byte) []byte {
	var bit byte
	if mask != nil {
		bit = masked
	}
	b = append(b, fin|opcode)
	switch {
	case n < 126:
		b = append(b, bit|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, bit|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, bit|127), uint64(n))
	}
	if mask != nil {
		b = append(b, mask[:]...)
	}
	return b
}

// newMask returns a mask that nobody can foresee, as RFC 6455, section 5.3, wants.
func newMask() *[4]byte {
	mask := new([4]byte)
	_, _ = rand.Read(mask[:]) // never fails
	return mask
}

// applyMask masks b, which begins at byte at of its payload.
func applyMask(b []byte, mask *[4]byte, at int) {
	for len(b) > 0 && at%4 != 0 {
		b[0] ^= mask[at%4]
		b, at = b[1:], at+1
	}
	key := uint64(binary.LittleEndian.Uint32(mask[:]))
	key |= key << 32
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^key)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= mask[i%4]
	}
}
