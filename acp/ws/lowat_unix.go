//go:build linux || darwin

package ws

import (
	"crypto/tls"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsentBytes is how much the system holds that it could not send yet.
const unsentBytes = 128 << 10

// WakeEarly makes the system take more as soon as a little was read. Otherwise
// a writer sleeps until a third of megabytes is free, and a peer that reads
// slowly looks like one that does not read. It also bounds what a peer that does
// not read costs the system. Accept does it itself; a server calls it for sockets
// whose streams are watched for stalls too. A socket that cannot do it works without.
func WakeEarly(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			setUnsent(raw)
		}
	}
}

func setUnsent(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
	})
}
