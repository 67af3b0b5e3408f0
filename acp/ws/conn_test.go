package ws

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// host is a server whose connections come out of a channel.
type host struct {
	*httptest.Server
	conns chan *Conn
}

// serve starts a server that accepts with opts.
func serve(t testing.TB, secure bool, opts AcceptOptions) *host {
	t.Helper()
	h := &host{conns: make(chan *Conn, 16)}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, opts)
		if err != nil {
			return
		}
		h.conns <- c
	}))
	if secure {
		h.StartTLS()
	} else {
		h.Start()
	}
	t.Cleanup(h.Close)
	return h
}

// next returns the next connection that was accepted.
func (h *host) next(t testing.TB) *Conn {
	t.Helper()
	select {
	case c := <-h.conns:
		t.Cleanup(func() { c.Close() })
		return c
	case <-time.After(patience):
		t.Fatal("nobody connected")
		return nil
	}
}

// dial connects to the server.
func (h *host) dial(t testing.TB, opts DialOptions) *Conn {
	t.Helper()
	opts.HTTPClient = h.Client()
	c, err := Dial(t.Context(), h.URL, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// pair returns both ends of a connection.
func pair(t testing.TB, server AcceptOptions, client DialOptions) (*Conn, *Conn) {
	t.Helper()
	h := serve(t, false, server)
	c := h.dial(t, client)
	return h.next(t), c
}

// read reads one message.
func read(t testing.TB, c *Conn) string {
	t.Helper()
	msg, err := c.ReadMessage(t.Context())
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(msg)
}

func write(t testing.TB, c *Conn, msgs ...string) {
	t.Helper()
	var values []jsontext.Value
	for _, m := range msgs {
		values = append(values, jsontext.Value(m))
	}
	if err := c.WriteMessages(t.Context(), values); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// TestBothWays is W4: messages of many sizes, both ways, in one write or several.
func TestBothWays(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			h := serve(t, secure, AcceptOptions{ID: "c1", Subprotocol: "one"})
			client := h.dial(t, DialOptions{Subprotocols: []string{"zero", "one"}})
			server := h.next(t)
			if client.ID() != "c1" || client.Subprotocol() != "one" {
				t.Errorf("id %q, subprotocol %q", client.ID(), client.Subprotocol())
			}
			var want []string
			sizes := []int{1, 125, 126, 200, 4 << 10, 16 << 10, 40 << 10, 1<<16 - 1, 1 << 16, 1 << 20, 2}
			if !secure {
				sizes = append(sizes, 12<<20, 3)
			}
			for _, n := range sizes {
				want = append(want, strings.Repeat("é", n/2)+strings.Repeat("x", n%2))
			}
			for _, ends := range [][2]*Conn{{client, server}, {server, client}} {
				ends := ends
				var sent sync.WaitGroup
				sent.Go(func() { write(t, ends[0], want...) })
				for i, w := range want {
					if got := read(t, ends[1]); got != w {
						t.Errorf("message %d of %d bytes came as %d bytes", i, len(w), len(got))
					}
				}
				sent.Wait()
			}
		})
	}
}

// TestCleanClose shows what each end sees of a close.
func TestCleanClose(t *testing.T) {
	for _, code := range []int{CodeNormal, CodeGoingAway, CodePolicy, CodeInternal} {
		server, client := pair(t, AcceptOptions{}, DialOptions{})
		closed := make(chan error, 1)
		go func() { closed <- server.CloseWith(code, "a reason") }()
		_, err := client.ReadMessage(t.Context())
		var want error = &CloseError{Code: code, Reason: "a reason"}
		if code <= CodeGoingAway {
			want = io.EOF
		}
		if diff := cmp.Diff(want, err, cmp.Comparer(func(a, b error) bool { return a == b || fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
			t.Error(diff)
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
		if _, err := server.ReadMessage(t.Context()); err != acp.ErrClosed {
			t.Errorf("the closing end reads %v", err)
		}
		if err := client.WriteMessage(t.Context(), jsontext.Value("1")); err == nil {
			t.Error("a write after the end succeeded")
		}
	}
}

var _ interface {
	acp.MessageConn
	acp.BatchWriter
} = (*Conn)(nil)

// rawFrames dials like a client that writes what it likes.
func rawFrames(t *testing.T, h *host) io.ReadWriteCloser {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", h.URL, nil)
	req.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
		"Sec-Websocket-Extensions": {"permessage-deflate; client_max_window_bits"},
	}
	resp, err := h.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if ext := resp.Header.Get("Sec-WebSocket-Extensions"); resp.StatusCode != 101 || ext != "" {
		t.Fatalf("HTTP %d, extensions %q", resp.StatusCode, ext)
	}
	rw := resp.Body.(io.ReadWriteCloser)
	t.Cleanup(func() { rw.Close() })
	return rw
}

// frame is a masked frame as a client may send it, first is its first byte.
func frame(first byte, payload string) []byte {
	mask := [4]byte{1, 2, 3, 4}
	b := appendHeader(nil, 0, len(payload), &mask)
	b[0] = first
	begin := len(b)
	b = append(b, payload...)
	applyMask(b[begin:], &mask, 0)
	return b
}

// TestFrames says what is taken in and what closes with which code.
func TestFrames(t *testing.T) {
	const limit = 1000
	unmasked := []byte{0x81, 2, '{', '}'}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	tests := []struct {
		name  string
		bytes []byte
		want  string // the message that comes in
		code  int    // else the close code
		words string // in its reason
	}{
		{"text", frame(0x81, `{}`), `{}`, 0, ""},
		{"binary that is UTF-8", frame(0x82, `{"a":"é"}`), `{"a":"é"}`, 0, ""},
		{"fragments", join(frame(0x01, `{"a"`), frame(0x00, `:`), frame(0x80, `1}`)), `{"a":1}`, 0, ""},
		{"a ping between fragments", join(frame(0x01, `{`), frame(0x89, "hi"), frame(0x80, `}`)), `{}`, 0, ""},
		{"empty", frame(0x81, ""), "", 0, ""},
		{"at the limit", frame(0x81, strings.Repeat("x", limit)), strings.Repeat("x", limit), 0, ""},
		{"over the limit", frame(0x81, strings.Repeat("x", limit+1)), "", CodeTooBig, "1000 bytes (acp.max_message_bytes)"},
		{"fragments over the limit", join(frame(0x01, strings.Repeat("x", limit)), frame(0x80, "x")), "", CodeTooBig, "1000 bytes"},
		{"a length nobody has", []byte{0x81, 0xff, 255, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4}, "", CodeProtocol, ""},
		{"text that is not UTF-8", frame(0x81, "\xff"), "", CodeNotText, "UTF-8"},
		{"binary that is not UTF-8", frame(0x82, "\xff"), "", CodeNotText, "UTF-8"},
		{"compressed", frame(0xc1, "x"), "", CodeProtocol, ""},
		{"not masked", unmasked, "", CodeProtocol, ""},
		{"continuation of nothing", frame(0x80, "x"), "", CodeProtocol, ""},
		{"text in a fragmented message", join(frame(0x01, "a"), frame(0x81, "b")), "", CodeProtocol, ""},
		{"an unknown opcode", frame(0x83, "x"), "", CodeProtocol, ""},
		{"a fragmented ping", frame(0x09, "x"), "", CodeProtocol, ""},
		{"a long ping", frame(0x89, strings.Repeat("x", 126)), "", CodeProtocol, ""},
		{"a close code that cannot be", frame(0x88, "\x03\xed"), "", CodeProtocol, ""},
		{"a close frame of one byte", frame(0x88, "\x03"), "", CodeProtocol, ""},
	}
	h := serve(t, false, AcceptOptions{MaxBytes: limit})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rw := rawFrames(t, h)
			server := h.next(t)
			defer rw.Close()
			if _, err := rw.Write(tt.bytes); err != nil {
				t.Fatal(err)
			}
			read := make(chan error, 1)
			go func() {
				msg, err := server.ReadMessage(context.Background())
				if err == nil && string(msg) != tt.want {
					err = fmt.Errorf("came as %q", msg)
				}
				read <- err
			}()
			if tt.code == 0 {
				if err := <-read; err != nil {
					t.Fatal(err)
				}
				return
			}
			code, reason := readClose(t, rw)
			if code != tt.code || !strings.Contains(reason, tt.words) {
				t.Errorf("closed with %d %q, want %d %q", code, reason, tt.code, tt.words)
			}
			rw.Close()
			var closed *CloseError
			if err := <-read; !asClose(err, &closed) || closed.Code != tt.code {
				t.Errorf("the reader got %v", err)
			}
		})
	}
}

func asClose(err error, target **CloseError) bool {
	e, ok := err.(*CloseError)
	*target = e
	return ok
}

// readClose reads frames of a server up to the one that closes.
func readClose(t *testing.T, r io.Reader) (int, string) {
	t.Helper()
	for {
		var head [2]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			t.Fatalf("no close frame: %v", err)
		}
		payload := make([]byte, head[1])
		if _, err := io.ReadFull(r, payload); err != nil {
			t.Fatal(err)
		}
		if head[0] == 0x88 && len(payload) >= 2 {
			return int(payload[0])<<8 | int(payload[1]), string(payload[2:])
		}
	}
}

// TestEngineEnds shows that an engine over a connection ends with it, whatever
// the peer did.
func TestEngineEnds(t *testing.T) {
	h := serve(t, false, AcceptOptions{MaxBytes: 1000})
	tests := []struct {
		name  string
		bytes []byte
		want  string // in the error of Run, empty for none
	}{
		{"closed", frame(0x88, "\x03\xe8"), ""},
		{"closed with an error", frame(0x88, "\x03\xf3oops"), "oops (1011)"},
		{"too long", frame(0x81, strings.Repeat("x", 1001)), "1000 bytes (acp.max_message_bytes) (1009)"},
		{"not text", frame(0x81, "\xff"), "UTF-8 (1007)"},
		{"no frame", frame(0x83, ""), "(1002)"},
		{"cut", frame(0x81, "{}")[:3], "(1006)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := rawDial(t, h)
			conn := acp.NewConn(h.next(t), nil, nil)
			ran := make(chan error, 1)
			go func() { ran <- conn.Run(context.Background()) }()
			if _, err := raw.Write(tt.bytes); err != nil {
				t.Fatal(err)
			}
			_ = raw.CloseWrite()
			select {
			case err := <-ran:
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("Run returned %v, want %q", err, tt.want)
				}
			case <-time.After(patience):
				t.Fatal("Run did not return")
			}
		})
	}
}
