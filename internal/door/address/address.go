// Package address reads what the web calls itself by: the Host header of a
// request, the origin of a page, and the networks that proxies are in. It accepts
// one way to write each and nothing that two readers could understand
// differently; it opens and looks up nothing.
package address

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// longestHost is more than a name of the DNS with its port can be.
const longestHost = 300

// Host is a host as it stands in a Host header: lower case, IP addresses in
// their shortest form.
type Host struct {
	Name string
	Port uint16 // 0 when none is written
	IP   netip.Addr
}

var errHost = errors.New("a host is a name or an IP address (IPv6 in brackets), with a port or without, such as gw.example or [::1]:8080")

// ParseHost reads a host with or without a port. There is no place in it for
// white space, user names, zones, a trailing dot or a wildcard.
func ParseHost(s string) (Host, error) {
	name, port, err := split(s)
	if err != nil {
		return Host{}, err
	}
	h := Host{Name: strings.ToLower(name), Port: port}
	bare, v6 := strings.CutPrefix(name, "[")
	ip, err := netip.ParseAddr(strings.TrimSuffix(bare, "]"))
	switch {
	case err == nil && ip.Zone() == "" && v6 == ip.Is6():
		h.IP = ip.Unmap()
		h.Name = h.IP.String()
		return h, nil
	case v6 || err == nil || !validName(h.Name):
		return Host{}, errHost
	}
	return h, nil
}

// split cuts the port off.
func split(s string) (name string, port uint16, err error) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 || strings.HasSuffix(s, "]") {
		at = len(s)
	}
	name = s[:at]
	if name == "" || len(s) > longestHost {
		return "", 0, errHost
	}
	if at == len(s) {
		return name, 0, nil
	}
	port, err = parsePort(s[at+1:])
	return name, port, err
}

func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '0' || s[0] == '+' {
		return 0, errHost
	}
	return uint16(n), nil
}

// validName reports whether a lower-case name is one of the DNS. Labels may
// have underscores, as those of containers have.
func validName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}

// Loopback reports whether the host can only be this machine: localhost or an
// address of the loopback network.
func (h Host) Loopback() bool { return h.Name == "localhost" || h.IP.IsLoopback() }

// At returns the port, or the default one of a scheme; 0 when neither is known.
func (h Host) At(scheme string) uint16 {
	switch {
	case h.Port != 0:
		return h.Port
	case scheme == "http" || scheme == "ws":
		return 80
	case scheme == "https" || scheme == "wss":
		return 443
	}
	return 0
}

// Matches reports whether a listed host covers h, which was used with a scheme:
// the same name, and the same port where the listed one has any.
func (h Host) Matches(listed Host, scheme string) bool {
	return h.Name == listed.Name && (listed.Port == 0 || listed.Port == h.At(scheme))
}

// Origin is where a page comes from: scheme, host and port (RFC 6454), with the
// default port of http and https filled in.
type Origin struct {
	Scheme string
	Host   string
	Port   uint16
}

var errOrigin = errors.New(`an origin is a scheme and a host, with a port or without, such as https://chat.example: no path, no wildcard, and not "null"`)

// ParseOrigin reads an origin as a browser sends it. The opaque origin "null"
// is none.
func ParseOrigin(s string) (Origin, error) {
	scheme, rest, found := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !found || !validScheme(scheme) {
		return Origin{}, errOrigin
	}
	h, err := ParseHost(rest)
	if err != nil {
		return Origin{}, errOrigin
	}
	return OriginOf(scheme, h), nil
}

// OriginOf is the origin of what a host serves by a scheme.
func OriginOf(scheme string, h Host) Origin { return Origin{scheme, h.Name, h.At(scheme)} }

func validScheme(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return s != ""
}

// ParseNetwork reads an address or a network, such as 10.0.0.1 or 10.0.0.0/8.
func ParseNetwork(s string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(s); err == nil && ip.Zone() == "" {
		ip = ip.Unmap()
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil || p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%.60q is no address or network such as 10.0.0.1 or 10.0.0.0/8", s)
	}
	return p.Masked(), nil
}
