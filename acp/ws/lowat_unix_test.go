//go:build linux || darwin

package ws

import (
	"crypto/tls"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWakeEarly(t *testing.T) {
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"plain": func(c net.Conn) net.Conn { return c },
		"TLS":   func(c net.Conn) net.Conn { return tls.Server(c, &tls.Config{}) },
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			WakeEarly(wrap(c))
			if got := unsentLimit(t, c.(*net.TCPConn)); got != unsentBytes {
				t.Errorf("the system holds %d bytes that are not sent, want %d", got, unsentBytes)
			}
		})
	}
}

func unsentLimit(t *testing.T, c *net.TCPConn) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var limit int
	var failed error
	if err := raw.Control(func(fd uintptr) {
		limit, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT)
	}); err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Fatal(failed)
	}
	return limit
}
