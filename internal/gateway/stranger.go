package gateway

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// strangers are the connections on which nobody has shown a good credential yet.
// When there are too many the oldest goes, so that whoever opens many and says
// nothing cannot keep others out.
type strangers struct {
	limit int

	mu     sync.Mutex
	order  *list.List // of net.Conn, the oldest first
	places map[net.Conn]*list.Element
}

func newStrangers(limit int) *strangers {
	return &strangers{limit: limit, order: list.New(), places: make(map[net.Conn]*list.Element)}
}

// strangerKey finds, in the context of a request, what makes its connection a
// known one.
type strangerKey struct{}

// arrived is an http.Server.ConnContext.
func (s *strangers) arrived(ctx context.Context, c net.Conn) context.Context {
	s.mu.Lock()
	s.places[c] = s.order.PushBack(c)
	var oldest net.Conn
	if s.order.Len() > s.limit {
		oldest = s.order.Front().Value.(net.Conn)
		s.forget(oldest)
	}
	s.mu.Unlock()
	if oldest != nil {
		abort(oldest)
	}
	return context.WithValue(ctx, strangerKey{}, func() { s.known(c) })
}

// abort closes a connection without a word.
func abort(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn() // the other one would say goodbye, and wait
	}
	_ = c.Close() // nothing was promised to it
}

// changed is an http.Server.ConnState.
func (s *strangers) changed(c net.Conn, state http.ConnState) {
	if state == http.StateClosed || state == http.StateHijacked {
		s.known(c)
	}
}

func (s *strangers) known(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
}

// forget takes a connection off the list. s.mu is held.
func (s *strangers) forget(c net.Conn) {
	if place, ok := s.places[c]; ok {
		s.order.Remove(place)
		delete(s.places, c)
	}
}

// known notes that a good credential was shown on the connection of a request.
func known(ctx context.Context) {
	if f, ok := ctx.Value(strangerKey{}).(func()); ok {
		f()
	}
}
