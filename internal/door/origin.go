package door

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/door/address"
)

// Check reports whether a request was meant for this gateway and comes from no
// foreign page, or returns a *Refusal (403). A page that made its name point at
// this machine still says that name as Host, and a page of another origin says
// so; both are refused whatever credential they have.
func (d *Door) Check(r *http.Request) error {
	d.mu.Lock()
	s := d.settings
	d.mu.Unlock()
	v := s.view(r)
	host, err := address.ParseHost(v.host)
	if err != nil || !v.forwarded && !s.ours(host, v.scheme, localAddr(r)) {
		return forbidden("the Host of this request is not this gateway's; if it should be, put it into gateway.allowed_hosts")
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0:
		return nil
	case len(origins) == 1:
		origin, err := address.ParseOrigin(origins[0])
		if err == nil && (origin == address.OriginOf(v.scheme, host) || slices.Contains(s.Origins, origin)) {
			return nil
		}
	}
	return forbidden("pages of this origin are not let in; if they should be, put it into gateway.allowed_origins")
}

// view is a request as its client made it.
type view struct {
	scheme, host string
	forwarded    bool // a trusted proxy said the host, which is then one it serves for us
}

func (s *Settings) view(r *http.Request) view {
	v := view{scheme: "http", host: r.Host}
	if r.TLS != nil {
		v.scheme = "https"
	}
	if !s.trusted(peer(r)) {
		return v
	}
	if proto := strings.ToLower(lastOf(r.Header.Values("X-Forwarded-Proto"))); proto == "http" || proto == "https" {
		v.scheme = proto
	}
	if host := lastOf(r.Header.Values("X-Forwarded-Host")); host != "" {
		v.host, v.forwarded = host, true
	}
	return v
}

// lastOf is the last item of a list in headers: what the nearest proxy said.
func lastOf(headers []string) string {
	if len(headers) == 0 {
		return ""
	}
	last := headers[len(headers)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// ours reports whether a host is this gateway: a name of this machine or the
// very address the connection came to, at the port it came to, or one that is
// listed.
func (s *Settings) ours(h address.Host, scheme string, local netip.AddrPort) bool {
	for _, listed := range s.Hosts {
		if h.Matches(listed, scheme) {
			return true
		}
	}
	if !local.IsValid() || h.At(scheme) != local.Port() {
		return false
	}
	return h.Loopback() || h.IP.IsValid() && h.IP == local.Addr().Unmap().WithZone("")
}

func localAddr(r *http.Request) netip.AddrPort {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if a == nil {
		return netip.AddrPort{}
	}
	local, _ := netip.ParseAddrPort(a.String()) // what is none is not valid
	return local
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	p, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap().WithZone("")
}

func (s *Settings) trusted(ip netip.Addr) bool {
	return ip.IsValid() && slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Client is the address a request comes from: that of the peer, or, behind
// trusted proxies, what the outermost of them saw. Not valid when unknown.
func (d *Door) Client(r *http.Request) netip.Addr {
	d.mu.Lock()
	s := d.settings
	d.mu.Unlock()
	at := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !s.trusted(at) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		at = next.Unmap().WithZone("")
	}
	return at
}

// Source names where a request comes from, for counting: its client's address,
// of IPv6 the network that one customer gets.
func (d *Door) Source(r *http.Request) string {
	at := d.Client(r)
	switch {
	case !at.IsValid():
		return "unknown"
	case at.Is6() && !at.IsLoopback():
		network, _ := at.Prefix(64) // always fits
		return network.String()
	}
	return at.String()
}

// direct reports whether the client is on this machine and speaks to us itself.
func (d *Door) direct(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	return peer(r).IsLoopback()
}
