package app

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/config"
)

const patience = 30 * time.Second

// startGateway runs a gateway in this process until the test ends.
func startGateway(t *testing.T, conf string) (*App, beacon.Beacon) {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.File(), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Options{Home: home, Stderr: io.Discard, Gateway: true})
	if err != nil {
		t.Fatal(err)
	}
	quit, stop := context.WithCancel(context.Background())
	ready, ended := make(chan beacon.Beacon, 1), make(chan error, 1)
	port := 0
	go func() {
		ended <- a.ServeGateway(quit, GatewayOptions{Port: &port, Ready: func(b beacon.Beacon) { ready <- b }})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := a.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	select {
	case b := <-ready:
		return a, b
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return nil, beacon.Beacon{}
}

// rawClient is a WebSocket client that costs this process next to nothing.
type rawClient struct {
	t *testing.T
	net.Conn
	r *bufio.Reader
}

func dialRaw(t *testing.T, b beacon.Beacon, token string) *rawClient {
	t.Helper()
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	var key [16]byte
	_, _ = rand.Read(key[:])
	c := &rawClient{t, nc, bufio.NewReaderSize(nc, 16)}
	fmt.Fprintf(nc, "GET /acp HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		u.Host, base64.StdEncoding.EncodeToString(key[:]), token)
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", resp, err)
	}
	return c
}

// say sends one masked text frame.
func (c *rawClient) say(msg string) {
	c.t.Helper()
	frame := []byte{0x81, 0x80 | 126}
	frame = binary.BigEndian.AppendUint16(frame, uint16(len(msg)))
	frame = append(frame, 0, 0, 0, 0) // a mask that changes nothing
	if _, err := c.Write(append(frame, msg...)); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads one frame.
func (c *rawClient) hear() string {
	c.t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	var head [2]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		c.t.Fatal(err)
	}
	size := uint64(head[1])
	if size >= 126 {
		wide := make([]byte, map[byte]int{126: 2, 127: 8}[head[1]])
		if _, err := io.ReadFull(c.r, wide); err != nil {
			c.t.Fatal(err)
		}
		size = binary.BigEndian.Uint64(append(make([]byte, 8-len(wide)), wide...))
	}
	msg := make([]byte, size)
	if _, err := io.ReadFull(c.r, msg); err != nil {
		c.t.Fatal(err)
	}
	return string(msg)
}

// inUse is what the process holds on to, in bytes: heap and stacks.
func inUse() int64 {
	for range 6 {
		runtime.GC() // each halves stacks that were deep
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestIdleClientsCostLittle measures what an attached client with nothing to do
// keeps, while its session is active and once it is parked.
func TestIdleClientsCostLittle(t *testing.T) {
	const clients = 200
	a, b := startGateway(t, `
[acp]
max_sessions = 1000
session_timeout_secs = 2
[providers.demo]
kind = "demo"
[agents.main]
provider = "demo"
`)
	token, err := os.ReadFile(filepath.Join(a.conf.orDefault().DataPath(), bridgeFile))
	if err != nil {
		t.Fatal(err)
	}
	secret := string(token[:len(token)-1])
	open := func() *rawClient {
		c := dialRaw(t, b, secret)
		c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
		c.hear()
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, a.opts.Home))
		c.hear()
		c.hear() // the commands
		return c
	}
	open() // what is made once is made
	before := inUse()
	for range clients {
		open()
	}
	active := (inUse() - before) / clients
	for until := time.Now().Add(patience); a.hub.Active() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d sessions were not parked", a.hub.Active())
		}
	}
	parked := (inUse() - before) / clients
	t.Logf("an attached client: %d KiB with its session active, %d KiB with it parked", active>>10, parked>>10)
	const most = 100 << 10 // measured: 61 KiB
	if parked > most {
		t.Errorf("an attached client with nothing to do keeps %d bytes, want at most %d", parked, most)
	}
}
