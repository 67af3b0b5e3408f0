package bridge_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy passes TCP connections on, until it is told to break them.
type proxy struct {
	t      *testing.T
	to     string
	listen net.Listener
	tasks  sync.WaitGroup

	mu     sync.Mutex
	shut   bool           // new connections are refused
	pairs  map[*pair]bool // that are there
	budget int            // bytes from the gateway until a cut in the middle of a frame; 0: none
	seen   int            // connections taken
	joined chan struct{}  // gets a value with each connection
}

type pair struct {
	near, far *net.TCPConn
	held      chan struct{} // closed: nothing passes any more, and nobody is told
	once      sync.Once
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, to: to, listen: l, pairs: make(map[*pair]bool), joined: make(chan struct{}, 10000)}
	p.tasks.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.reset()
		p.tasks.Wait()
	})
	return p
}

func (p *proxy) addr() string { return p.listen.Addr().String() }

func (p *proxy) accept() {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		near := c.(*net.TCPConn)
		p.mu.Lock()
		shut := p.shut
		p.mu.Unlock()
		far, err := net.Dial("tcp", p.to)
		if shut || err != nil {
			_ = near.SetLinger(0)
			_ = near.Close()
			if err == nil {
				_ = far.Close()
			}
			continue
		}
		q := &pair{near: near, far: far.(*net.TCPConn), held: make(chan struct{})}
		p.mu.Lock()
		p.pairs[q] = true
		p.seen++
		p.mu.Unlock()
		p.joined <- struct{}{}
		p.tasks.Go(func() { p.pass(q, q.far, q.near) })
		p.tasks.Go(func() { p.pass(q, q.near, q.far) })
	}
}

// pass copies one direction.
func (p *proxy) pass(q *pair, to, from *net.TCPConn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if n > 0 && !q.frozen() {
			n, cut := p.allowed(n, from == q.far)
			if _, werr := to.Write(buf[:n]); werr != nil || cut {
				q.kill()
				break
			}
		}
		if err != nil {
			if err != io.EOF {
				q.kill()
			}
			_ = to.CloseWrite()
			break
		}
	}
	p.mu.Lock()
	delete(p.pairs, q)
	p.mu.Unlock()
}

func (q *pair) frozen() bool {
	select {
	case <-q.held:
		return true
	default:
		return false
	}
}

// allowed says how many of n bytes pass, and whether the connection ends with
// them.
func (p *proxy) allowed(n int, fromGateway bool) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.budget == 0 || !fromGateway {
		return n, false
	}
	if n < p.budget {
		p.budget -= n
		return n, false
	}
	n, p.budget = p.budget, 0
	return n, true
}

// kill resets both sides.
func (q *pair) kill() {
	q.once.Do(func() {
		for _, c := range []*net.TCPConn{q.near, q.far} {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
	})
}

func (p *proxy) all() []*pair {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []*pair
	for q := range p.pairs {
		list = append(list, q)
	}
	return list
}

// reset breaks what is there with an RST.
func (p *proxy) reset() {
	for _, q := range p.all() {
		q.kill()
	}
}

// freeze makes what is there half-open: nobody is told.
func (p *proxy) freeze() {
	for _, q := range p.all() {
		close(q.held)
	}
}

// cutAfter resets a connection after so many more bytes from the gateway.
func (p *proxy) cutAfter(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.budget = n
}

func (p *proxy) refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = yes
}
