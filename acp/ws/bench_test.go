//go:build unix

package ws

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"
)

// chunkUpdate is an agent_message_chunk of 200 bytes, as they stream.
var chunkUpdate = func() string {
	const head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef",` +
		`"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`
	const tail = `"}}}}`
	return head + strings.Repeat("x", 200-len(head)-len(tail)) + tail
}()

const inBatch = 64

// cpu is the processor time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs send, which sends n updates, and reports the processor time of one,
// that of the peer included, who only takes the bytes.
func measure(b *testing.B, n int, send func() error) {
	b.ReportAllocs()
	b.SetBytes(int64(len(chunkUpdate)))
	before, sent := cpu(), 0
	for i := 0; i < b.N; i += n {
		if err := send(); err != nil {
			b.Fatal(err)
		}
		sent += n
	}
	b.ReportMetric(float64(cpu()-before)/float64(sent), "cpu-ns/op")
}

// taken returns a server's end whose peer takes bytes and does nothing with them.
func taken(b *testing.B, accept func(http.ResponseWriter, *http.Request)) {
	b.Helper()
	s := httptest.NewServer(http.HandlerFunc(accept))
	b.Cleanup(s.Close)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	go func() { _, _ = io.Copy(io.Discard, c) }()
}

// BenchmarkUpdate sends updates of 200 bytes, one by one and in batches, against
// the same bytes on a bare socket and on the bare WebSocket library.
func BenchmarkUpdate(b *testing.B) {
	one := jsontext.Value(chunkUpdate)
	var many []jsontext.Value
	for range inBatch {
		many = append(many, one)
	}
	ctx := context.Background()

	sockets := make(chan net.Conn, 1)
	socket := func(b *testing.B) net.Conn {
		taken(b, func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			sockets <- c
		})
		c := <-sockets
		b.Cleanup(func() { c.Close() })
		return c
	}
	b.Run("tcp/single", func(b *testing.B) {
		c := socket(b)
		measure(b, 1, func() error { _, err := c.Write(one); return err })
	})
	b.Run("tcp/batch", func(b *testing.B) {
		c := socket(b)
		bytes := []byte(strings.Repeat(chunkUpdate, inBatch))
		measure(b, inBatch, func() error { _, err := c.Write(bytes); return err })
	})
	b.Run("library/single", func(b *testing.B) {
		libraries := make(chan *websocket.Conn, 1)
		taken(b, func(w http.ResponseWriter, r *http.Request) {
			c, _ := websocket.Accept(w, r, nil)
			libraries <- c
		})
		c := <-libraries
		b.Cleanup(func() { _ = c.CloseNow() })
		measure(b, 1, func() error { return c.Write(ctx, websocket.MessageText, one) })
	})
	ours := make(chan *Conn, 1)
	conn := func(b *testing.B) *Conn {
		taken(b, func(w http.ResponseWriter, r *http.Request) {
			c, _ := Accept(w, r, AcceptOptions{Ping: -1})
			ours <- c
		})
		c := <-ours
		b.Cleanup(func() { _ = c.drop(net.ErrClosed) })
		return c
	}
	b.Run("ws/single", func(b *testing.B) {
		c := conn(b)
		measure(b, 1, func() error { return c.WriteMessage(ctx, one) })
	})
	b.Run("ws/batch", func(b *testing.B) {
		c := conn(b)
		measure(b, inBatch, func() error { return c.WriteMessages(ctx, many) })
	})
}

// BenchmarkReceive is the way of an update from one end to the other.
func BenchmarkReceive(b *testing.B) {
	server, client := pair(b, AcceptOptions{Ping: -1}, DialOptions{Ping: -1})
	var many []jsontext.Value
	for range inBatch {
		many = append(many, jsontext.Value(chunkUpdate))
	}
	go func() {
		for server.WriteMessages(context.Background(), many) == nil {
		}
	}()
	measure(b, 1, func() error { _, err := client.ReadMessage(context.Background()); return err })
	_ = server.drop(net.ErrClosed)
}
