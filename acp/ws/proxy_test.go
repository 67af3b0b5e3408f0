package ws

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy stands between a client and a server, and does what networks do.
type proxy struct {
	net.Listener
	target    string
	swallowed atomic.Bool // what comes is taken and not passed on

	mu    sync.Mutex
	links []*net.TCPConn
	done  sync.WaitGroup
}

// between starts a proxy before h, and points h's clients at it.
func between(t *testing.T, h *host) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, target: h.Listener.Addr().String()}
	p.done.Go(p.serve)
	h.URL = "http://" + l.Addr().String()
	t.Cleanup(func() {
		l.Close()
		p.reset()
		p.done.Wait()
	})
	return p
}

func (p *proxy) serve() {
	for {
		near, err := p.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.target)
		if err != nil {
			near.Close()
			return
		}
		p.mu.Lock()
		p.links = append(p.links, near.(*net.TCPConn), far.(*net.TCPConn))
		p.mu.Unlock()
		p.done.Go(func() { p.pass(near, far) })
		p.done.Go(func() { p.pass(far, near) })
	}
}

func (p *proxy) pass(from, to net.Conn) {
	defer func() {
		if !p.swallowed.Load() {
			_ = to.(*net.TCPConn).CloseWrite()
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !p.swallowed.Load() {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

// reset ends every link with a RST.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.links {
		_ = c.SetLinger(0)
		c.Close()
	}
	p.links = nil
}

// rawDial opens a socket and does the handshake on it, for peers that do what no
// library does.
func rawDial(t *testing.T, h *host) *net.TCPConn {
	t.Helper()
	u, _ := url.Parse(h.URL)
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	end := "\r\n\r\n"
	for at := 0; at < len(end); {
		b := make([]byte, 1)
		if _, err := c.Read(b); err != nil {
			t.Fatal(err)
		}
		if at++; b[0] != end[at-1] {
			at = 0
			if b[0] == end[0] {
				at = 1
			}
		}
	}
	return c.(*net.TCPConn)
}
