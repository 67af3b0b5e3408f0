package web

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// AddressError refuses an address that is not on the public internet.
type AddressError struct {
	Addr netip.Addr
	Why  string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("its address %s is %s, and only public ones are fetched", e.Addr, e.Why)
}

// Public returns nil for an address of the public internet and an *AddressError
// for every other one. Addresses that hold an IPv4 address are judged by that.
func Public(addr netip.Addr) error {
	inner := embedded(addr)
	if !inner.IsValid() {
		return &AddressError{addr, "not valid"}
	}
	for _, n := range reserved(inner.Is4()) {
		if n.prefix.Contains(inner) {
			return &AddressError{addr, n.what}
		}
	}
	if inner.Is6() && !globalUnicast.Contains(inner) {
		return &AddressError{addr, "not a public unicast address"}
	}
	return nil
}

// embedded returns the IPv4 address that an address stands for, or the address
// itself without its zone.
func embedded(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

type network struct {
	prefix netip.Prefix
	what   string
}

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")
	nat64         = netip.MustParsePrefix("64:ff9b::/96")
)

// reserved lists what is not public (the special-purpose registries of IANA),
// and the address under which Azure serves what only its machines may know.
func reserved(v4 bool) []network {
	if v4 {
		return reserved4[:]
	}
	return reserved6[:]
}

var reserved4 = [...]network{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a carrier"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine's own"},
	{netip.MustParsePrefix("168.63.129.16/32"), "for cloud metadata"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local or for cloud metadata"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "reserved for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "reserved for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
}

var reserved6 = [...]network{
	{netip.MustParsePrefix("::1/128"), "this machine's own"},
	{netip.MustParsePrefix("::/96"), "unspecified"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fec0::/10"), "private"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // Teredo and others
	{netip.MustParsePrefix("2001:db8::/32"), "reserved for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a tunnel into IPv4"},
	{netip.MustParsePrefix("3fff::/20"), "reserved for documentation"},
}

// guard checks addresses at the moment a socket is about to connect.
type guard struct{ allow func(netip.AddrPort) bool }

// control implements net.Dialer.ControlContext.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("the address %s is not understood: %w", address, err)
	}
	if g.allow != nil && g.allow(to) {
		return nil
	}
	if err := Public(to.Addr()); err != nil {
		return err
	}
	return ownAddress(to.Addr())
}

// ownAddress refuses the public addresses of this machine itself: what listens
// there often trusts who comes from here.
func ownAddress(addr netip.Addr) error {
	own, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("this machine's own addresses cannot be told: %w", err)
	}
	addr = embedded(addr)
	if slices.ContainsFunc(own, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && embedded(prefix.Addr()) == addr
	}) {
		return &AddressError{addr, "this machine's own"}
	}
	return nil
}
