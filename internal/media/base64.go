package media

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// MaxBytes bounds one embedded file, decoded: 10 MiB.
const MaxBytes = 10 << 20

// Reasons embedded data is refused.
var (
	ErrNotBase64 = errors.New("data is not base64")
	ErrTooLarge  = errors.New("too large")
)

// Decode reads embedded data as clients really send it: with a data: prefix,
// white space, the URL alphabet, missing padding. Anything else is ErrNotBase64,
// and so is nothing at all; more than MaxBytes is ErrTooLarge.
func Decode(s string) ([]byte, error) {
	if rest, ok := cutDataPrefix(s); ok {
		s = rest
	}
	s = strings.TrimRight(clean(s), "=")
	if size := base64.RawStdEncoding.DecodedLen(len(s)); size > MaxBytes {
		return nil, fmt.Errorf("%w: it has %d bytes; at most %d are taken", ErrTooLarge, size, MaxBytes)
	}
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil || len(data) == 0 {
		return nil, ErrNotBase64
	}
	return data, nil
}

// cutDataPrefix removes what stands before the data in a data: URL.
func cutDataPrefix(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	if len(s) < 5 || !strings.EqualFold(s[:5], "data:") {
		return "", false
	}
	_, data, ok := strings.Cut(s, ",")
	return data, ok
}

// clean drops white space and turns the URL alphabet into the standard one.
func clean(s string) string {
	if !strings.ContainsAny(s, " \t\r\n-_") {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\r', '\n':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s)
}
