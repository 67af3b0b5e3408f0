package ws

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// recorded is a socket that yields what a peer sent and takes what it gets.
type recorded struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (r *recorded) Read(p []byte) (int, error)  { return r.in.Read(p) }
func (r *recorded) Write(p []byte) (int, error) { return r.out.Write(p) }
func (r *recorded) Close() error                { return nil }

// hijacked is a ResponseWriter over such a socket.
type hijacked struct {
	socket *recorded
	header http.Header
}

func (h *hijacked) Header() http.Header         { return h.header }
func (h *hijacked) Write(p []byte) (int, error) { return len(p), nil }
func (h *hijacked) WriteHeader(int)             {}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.socket, bufio.NewReadWriter(bufio.NewReader(h.socket), bufio.NewWriter(h.socket)), nil
}

// recordedConn is the server's end of a connection over which in comes.
func recordedConn(t testing.TB, in []byte) *Conn {
	t.Helper()
	r, _ := http.NewRequest("GET", "http://x/", nil)
	r.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
	}
	w := &hijacked{socket: &recorded{in: bytes.NewReader(in)}, header: http.Header{}}
	c, err := Accept(w, r, AcceptOptions{MaxBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzFrames reads what any peer may send: it never panics, always ends, and no
// message is over the limit.
func FuzzFrames(f *testing.F) {
	f.Add(frame(0x81, `{"jsonrpc":"2.0"}`))
	f.Add(append(frame(0x01, "{"), frame(0x80, "}")...))
	f.Add(append(frame(0x89, "ping"), frame(0x88, "\x03\xe8bye")...))
	f.Add(frame(0x81, strings.Repeat("x", 1001)))
	f.Add(frame(0xc1, "compressed"))
	f.Add([]byte{0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, in []byte) {
		c := recordedConn(t, in)
		defer c.Close()
		for range len(in) + 1 {
			msg, err := c.ReadMessage(context.Background())
			if err != nil {
				return
			}
			if len(msg) > 1000 {
				t.Fatalf("a message of %d bytes", len(msg))
			}
		}
		t.Fatal("more messages than bytes")
	})
}

// FuzzAddFrame writes messages that the library must read as they were.
func FuzzAddFrame(f *testing.F) {
	f.Add("", "x", true)
	f.Add(strings.Repeat("é", 70), strings.Repeat("y", 17_000), false)
	f.Fuzz(func(t *testing.T, one, two string, client bool) {
		var b bytes.Buffer
		out := frames{wire: socketOf(&b), client: client}
		for _, payload := range []string{one, two} {
			if err := out.add(opText, []byte(payload)); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.flush(); err != nil {
			t.Fatal(err)
		}
		if !client {
			return // what servers write is read by clients: see TestBothWays
		}
		c := recordedConn(t, b.Bytes())
		defer c.Close()
		c.socket.SetReadLimit(-1)
		for _, want := range []string{one, two} {
			typ, got, err := c.socket.Read(context.Background())
			if err != nil || typ != websocket.MessageText || string(got) != want {
				t.Fatalf("read %q, %v", got, err)
			}
		}
	})
}
