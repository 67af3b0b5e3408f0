package ws

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestWriteAllocates bounds what an update costs.
func TestWriteAllocates(t *testing.T) {
	server, client := pair(t, AcceptOptions{Ping: -1}, DialOptions{Ping: -1})
	end := drain(client)
	batch := []jsontext.Value{jsontext.Value(strings.Repeat("x", 200)), jsontext.Value(strings.Repeat("y", 200))}
	n := testing.AllocsPerRun(1000, func() {
		if err := server.WriteMessages(t.Context(), batch); err != nil {
			t.Error(err)
		}
	})
	// The peer reads in the same process, with one allocation for each message.
	if limit := float64(2 * len(batch)); n > limit {
		t.Errorf("%v allocations for %d updates, want at most %v", n, len(batch), limit)
	}
	server.Close()
	<-end
}

// TestTrim shows that a connection that became idle gives its memory back.
func TestTrim(t *testing.T) {
	var f frames
	f.reserve(1 << 20)
	f.used = true
	if f.trim(); cap(f.buf) != chunkBytes {
		t.Errorf("%d bytes are kept in use", cap(f.buf))
	}
	if f.trim(); f.buf != nil {
		t.Errorf("%d bytes are kept when idle", cap(f.buf))
	}
}

// socketOf is a wire onto a buffer.
func socketOf(b *bytes.Buffer) *wire {
	return &wire{rw: nopCloser{b}, writing: make(chan struct{}, 1), stall: -1}
}

type nopCloser struct{ *bytes.Buffer }

func (nopCloser) Close() error { return nil }

// TestFramesOfAnyLength compares what is written with the frames of RFC 6455,
// section 5.7.
func TestFramesOfAnyLength(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want string
	}{
		{0, "\x81\x00"},
		{5, "\x81\x05"},
		{125, "\x81\x7d"},
		{126, "\x81\x7e\x00\x7e"},
		{65535, "\x81\x7e\xff\xff"},
		{65536, "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"},
	} {
		var b bytes.Buffer
		f := frames{wire: socketOf(&b)}
		payload := strings.Repeat("x", tt.n)
		if err := f.add(opText, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		if err := f.flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want+payload {
			t.Errorf("%d bytes are written as %.20q", tt.n, b.String())
		}
	}
	mask := [4]byte{0x37, 0xfa, 0x21, 0x3d}
	hello := append(appendHeader(nil, opText, 5, &mask), "Hello"...)
	applyMask(hello[6:], &mask, 0)
	if want := "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"; string(hello) != want {
		t.Errorf("Hello is written as %q, want %q", hello, want)
	}
}

// TestWriteAfterLoss shows that each write on a broken socket says why.
func TestWriteAfterLoss(t *testing.T) {
	server, _ := pair(t, AcceptOptions{Ping: -1}, DialOptions{Ping: -1})
	server.wire.Close()
	for range 2 {
		err := server.WriteMessage(t.Context(), jsontext.Value("1"))
		if e, ok := err.(*CloseError); !ok || e.Code != CodeLost {
			t.Errorf("got %v", err)
		}
	}
	if err := server.drop(net.ErrClosed); err == net.ErrClosed {
		t.Error("a later reason took the place of the first")
	}
}
