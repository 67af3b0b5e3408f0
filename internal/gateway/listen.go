package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// Address is where a gateway is to listen.
type Address struct {
	Host string // a name or an IP address; empty means all addresses
	Port int    // 0 picks one
}

// Loopback reports whether only this machine can reach the address.
func (a Address) Loopback() bool {
	if a.Host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Loopback reports whether only this machine can reach what listens on an
// address.
func Loopback(l net.Addr) bool {
	tcp, ok := l.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback() // what is no TCP has no other machines
}

// Listen opens the address. An error says in one sentence what to change.
func (a Address) Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(a.Host, strconv.Itoa(a.Port)))
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaAddrInUse):
		return nil, fmt.Errorf("port %d on %s is in use by another program: end it, or choose another port by gateway.port or --port (0 picks one)", a.Port, a.Host)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %d may not be listened on by this user: choose one above 1023 by gateway.port or --port, or have systemd open it", a.Port)
	}
	return nil, fmt.Errorf("listen on %s (gateway.host and gateway.port): %w", a.Host, err)
}

// wsaAddrInUse is the EADDRINUSE of Windows.
const wsaAddrInUse = syscall.Errno(10048)

// URLs are the addresses of a gateway that listens on l, for clients of this
// machine: what listens everywhere is reached by the loopback address.
func URLs(l net.Addr, secure bool, prefix string) (base, acp string) {
	host := l.String()
	if tcp, err := netip.ParseAddrPort(host); err == nil && tcp.Addr().IsUnspecified() {
		// Of IPv6, too: it takes IPv4 as well, which works on more machines.
		host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), tcp.Port()).String()
	}
	base, acp = "http://", "ws://"
	if secure {
		base, acp = "https://", "wss://"
	}
	return base + host + prefix, acp + host + prefix + routeACP
}
