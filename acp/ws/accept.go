package ws

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// HeaderConnectionID names the connection in the answer to a handshake.
const HeaderConnectionID = "Acp-Connection-Id"

// AcceptOptions are the settings of the server's side. The zero value means the
// defaults.
type AcceptOptions struct {
	// ID is sent as Acp-Connection-Id when it is not empty.
	ID string
	// Subprotocol is selected when the client offers it. Browsers fail when they
	// offer some and none is selected.
	Subprotocol string
	// MaxBytes bounds an incoming message; zero means
	// acp.DefaultMaxMessageBytes. A longer one closes the connection with 1009.
	MaxBytes int64
	// Ping is how often to ping; zero means DefaultPing, less means never.
	Ping time.Duration
	// Stall is how long a write may make no progress; zero means DefaultStall,
	// less means for ever.
	Stall time.Duration
}

// Accept answers the handshake of r and returns the connection. When it fails,
// the error was written to w already. It authenticates nobody and looks at
// no Origin: who may connect is decided before.
func Accept(w http.ResponseWriter, r *http.Request, opts AcceptOptions) (*Conn, error) {
	if opts.ID != "" {
		w.Header().Set(HeaderConnectionID, opts.ID)
	}
	c := newConn(opts.MaxBytes, opts.Ping, opts.Stall)
	socket, err := websocket.Accept(&hijacker{ResponseWriter: w, wire: c.wire}, r, &websocket.AcceptOptions{
		Subprotocols:       subprotocols(opts.Subprotocol),
		InsecureSkipVerify: true, // of the Origin, which is the caller's to judge
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     c.pinged,
	})
	if err != nil {
		return nil, err
	}
	c.start(socket, opts.ID)
	return c, nil
}

func subprotocols(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// hijacker puts a wire between the socket and what reads and writes on it.
type hijacker struct {
	http.ResponseWriter
	wire *wire
}

// Hijack implements http.Hijacker.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	socket, buffered, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	WakeEarly(socket)
	h.wire.rw = socket
	conn := wiredConn{Conn: socket, wire: h.wire}
	// What the client sent behind its handshake stays in the reader.
	return conn, bufio.NewReadWriter(buffered.Reader, bufio.NewWriterSize(conn, controlBytes)), nil
}

// wiredConn is a socket that is read and written through its wire.
type wiredConn struct {
	net.Conn
	wire *wire
}

func (c wiredConn) Read(p []byte) (int, error)  { return c.wire.Read(p) }
func (c wiredConn) Write(p []byte) (int, error) { return c.wire.Write(p) }
func (c wiredConn) Close() error                { return c.wire.Close() }
