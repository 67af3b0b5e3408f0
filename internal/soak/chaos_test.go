package soak

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// fault is how a proxy ends a connection.
type fault int

const (
	reset    fault = iota // both sides get an RST
	halfOpen              // nothing passes any more, and nobody is told
	idle                  // both sides get a FIN once nothing passed for a while
	midFrame              // what the gateway sends is cut within a write, then both sides get an RST
	midWrite              // the same to what the client sends
	faults                // how many there are
)

func (f fault) String() string {
	return [...]string{"RST", "half-open", "idle cut", "mid-frame", "mid-write"}[f]
}

// idleTime is after how long without a byte a proxy with an idle fault cuts.
const idleTime = 30 * time.Millisecond

// chaos is a TCP proxy in front of a gateway that breaks its connections.
type chaos struct {
	listener net.Listener
	target   func() string // where the gateway is now

	mu      sync.Mutex
	rand    *rand.Rand
	calm    bool
	reach   int  // bytes that pass at most before a fault
	patient bool // its client takes ten seconds to find a connection half open, which is to be rare
	counts  [faults]int
	open    map[net.Conn]struct{}
	running sync.WaitGroup
}

// newChaos makes a proxy that lets through up to reach bytes of a connection.
func newChaos(t *testing.T, seed uint64, reach int, target func() string) *chaos {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &chaos{listener: l, target: target, rand: rand.New(rand.NewPCG(seed, 1)), reach: reach, open: make(map[net.Conn]struct{})}
	p.running.Add(1)
	go p.accept()
	t.Cleanup(p.close)
	return p
}

func (p *chaos) addr() string { return p.listener.Addr().String() }

// soothe has the proxy break nothing any more, but what it has cut stays so.
func (p *chaos) soothe() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = true
}

// broken is how many connections it has broken so far.
func (p *chaos) broken() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.counts {
		n += c
	}
	return n
}

func (p *chaos) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *chaos) accept() {
	defer p.running.Done()
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Add(1)
		go p.pass(near)
	}
}

// plan is what is to happen to a connection.
func (p *chaos) plan() (fault, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := fault(p.rand.IntN(int(faults)))
	if kind == halfOpen && p.patient && p.rand.IntN(10) > 0 {
		kind = reset
	}
	return kind, 200 + p.rand.IntN(p.reach)
}

// pair is a connection under way.
type pair struct {
	p         *chaos
	near, far net.Conn
	kind      fault

	mu      sync.Mutex
	left    int // bytes that still pass
	tripped bool
}

func (p *chaos) pass(near net.Conn) {
	defer p.running.Done()
	far, err := net.Dial("tcp", p.target())
	if err != nil {
		_ = near.Close()
		return
	}
	c := &pair{p: p, near: near, far: far}
	c.kind, c.left = p.plan()
	p.keep(near, far)
	defer p.forget(near, far)
	var both sync.WaitGroup
	both.Go(func() { c.copy(near, far, c.kind == midFrame) })
	both.Go(func() { c.copy(far, near, c.kind == midWrite) })
	both.Wait()
}

func (p *chaos) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.open[c] = struct{}{}
	}
}

func (p *chaos) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.open, c)
	}
}

// copy passes bytes on until the fault; torn says that the last write is cut.
func (c *pair) copy(to, from net.Conn, torn bool) {
	buf := make([]byte, 32<<10)
	for {
		if c.kind == idle && c.spent() {
			_ = from.SetReadDeadline(time.Now().Add(idleTime))
		}
		n, err := from.Read(buf)
		if n > 0 && !c.forward(to, buf[:n], torn) {
			return
		}
		if err == nil {
			continue
		}
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
			if c.trip() {
				c.end(false)
				return
			}
			_ = from.SetReadDeadline(time.Time{}) // it breaks nothing any more
			c.calm()
			continue
		}
		if !c.silent() {
			c.end(err != io.EOF)
		}
		return
	}
}

// forward writes bytes and reports whether to go on.
func (c *pair) forward(to net.Conn, b []byte, torn bool) bool {
	c.mu.Lock()
	over := c.left < len(b)
	c.left -= len(b)
	c.mu.Unlock()
	if c.kind == idle || !over || !c.trip() {
		if c.silent() {
			return true // swallowed
		}
		_, err := to.Write(b)
		return err == nil
	}
	switch {
	case c.kind == halfOpen:
		return true
	case torn && len(b) > 1:
		_, _ = to.Write(b[:len(b)/2])
	}
	c.end(true)
	return false
}

// calm takes the fault off the connection.
func (c *pair) calm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = 1 << 60
}

func (c *pair) spent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left < 0
}

// silent reports whether the connection is half open.
func (c *pair) silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tripped && c.kind == halfOpen
}

// trip counts the fault, once; false if the proxy is calm.
func (c *pair) trip() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.tripped || c.p.calm {
		return c.tripped
	}
	c.tripped = true
	c.p.counts[c.kind]++
	return true
}

// end closes both sides, with an RST if hard.
func (c *pair) end(hard bool) {
	for _, conn := range []net.Conn{c.near, c.far} {
		if tcp, ok := conn.(*net.TCPConn); ok && hard {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
