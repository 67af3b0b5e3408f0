package door_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/door"
)

func settings(t *testing.T, hosts, origins, proxies []string) func(*door.Settings) {
	return func(s *door.Settings) {
		t.Helper()
		if err := s.Lists(hosts, origins, proxies); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHostAndOrigin is the matrix of who may have sent a page (Z1), on the wire:
// PORT stands for the server's port. Each row is asked with a good token, and
// with none: then a request that would be let in gets 401 and others 403 still.
func TestHostAndOrigin(t *testing.T) {
	h := open(t, settings(t, []string{"gw.example", "tunnel.example:8080"}, []string{"https://chat.example", "vscode-webview://1a2b"}, nil))
	tests := []struct {
		host, origin string // "" for the server's own host, for no Origin
		ok           bool
	}{
		{"", "", true},
		{"localhost:PORT", "", true},
		{"LOCALHOST:PORT", "", true},
		{"[::1]:PORT", "", true},
		{"127.0.0.2:PORT", "", true},
		{"[::ffff:127.0.0.1]:PORT", "", true},
		{"gw.example", "", true},
		{"GW.example:9999", "", true},
		{"tunnel.example:8080", "", true},

		{"tunnel.example", "", false},
		{"tunnel.example:8081", "", false},
		{"attacker.test", "", false},
		{"attacker.test:PORT", "", false},
		{"localhost", "", false}, // port 80 is not ours
		{"127.0.0.1", "", false},
		{"[::1]", "", false},
		{"localhost:1", "", false},
		{"localhost.:PORT", "", false},
		{"gw.example.", "", false},
		{"localhost.attacker.test:PORT", "", false},
		{"127.0.0.1.evil.example:PORT", "", false},
		{"127.1:PORT", "", false},
		{"0.0.0.0:PORT", "", false},
		{"[::]:PORT", "", false},
		{"10.0.0.1:PORT", "", false},
		{"localhost:PORT:PORT", "", false},
		{"*", "", false},

		{"", "http://127.0.0.1:PORT", true}, // the server's own
		{"localhost:PORT", "http://localhost:PORT", true},
		{"localhost:PORT", "HTTP://LOCALHOST:PORT", true},
		{"[::1]:PORT", "http://[::1]:PORT", true},
		{"gw.example", "http://gw.example", true},
		{"gw.example", "http://gw.example:80", true},
		{"gw.example:80", "http://gw.example", true},
		{"", "https://chat.example", true},
		{"", "https://chat.example:443", true},
		{"", "vscode-webview://1a2b", true},

		{"", "null", false},
		{"", "http://evil.example", false},
		{"", "http://localhost:9999", false},
		{"localhost:PORT", "http://localhost:9999", false},
		{"localhost:PORT", "http://localhost", false},
		{"localhost:PORT", "https://localhost:PORT", false},
		{"localhost:PORT", "http://127.0.0.1:PORT", false},
		{"", "http://127.0.0.1.evil.example", false},
		{"", "http://127.0.0.1.evil.example:PORT", false},
		{"", "http://127.0.0.1:PORT.evil.example", false},
		{"", "http://127.0.0.1:PORT@evil.example", false},
		{"", "http://u:p@127.0.0.1:PORT", false},
		{"", "http://127.0.0.1:PORT/", false},
		{"", "http://127.0.0.1.:PORT", false},
		{"", "http://127.0.0.1", false},
		{"", "127.0.0.1:PORT", false},
		{"", "http://chat.example", false},
		{"", "https://sub.chat.example", false},
		{"", "https://chat.example.evil", false},
		{"", "https://chat.example:8443", false},
		{"", "https://chat.example https://127.0.0.1", false},
		{"", "vscode-webview://other", false},
		{"", "*", false},
		{"", " ", false},
		{"attacker.test", "http://attacker.test", false}, // rebinding: the page is same-origin with a name that is not ours
		{"attacker.test:PORT", "http://attacker.test:PORT", false},
	}
	for _, tt := range tests {
		var headers []string
		if tt.host != "" {
			headers = append(headers, "Host: "+strings.ReplaceAll(tt.host, "PORT", h.port))
		}
		if tt.origin != "" {
			headers = append(headers, "Origin: "+strings.ReplaceAll(tt.origin, "PORT", h.port))
		}
		want := map[bool][2]int{true: {200, 401}, false: {403, 403}}[tt.ok]
		if got := h.request("/", append(headers, bearer(staticToken))...); got.status != want[0] {
			t.Errorf("Host %q, Origin %q, with a token: %d; want %d", tt.host, tt.origin, got.status, want[0])
		}
		if got := h.request("/", headers...); got.status != want[1] {
			t.Errorf("Host %q, Origin %q, without: %d; want %d", tt.host, tt.origin, got.status, want[1])
		}
		if got := h.send("POST", "/pair", "", headers...); got.status != want[1] {
			t.Errorf("Host %q, Origin %q, pairing: %d; want %d", tt.host, tt.origin, got.status, want[1])
		}
		h.reset()
	}
}

// TestTwoOrigins refuses what no browser sends.
func TestTwoOrigins(t *testing.T) {
	h := open(t, nil)
	own := "Origin: http://" + h.addr
	if got := h.request("/", bearer(staticToken), own, own); got.status != 403 {
		t.Errorf("two Origin headers get %d", got.status)
	}
}

// request makes a request as a server sees it.
func seen(peer, host string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/acp", nil)
	r.RemoteAddr, r.Host = peer, host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("192.0.2.7:42617"))
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, at))
}

// TestProxies shows whose forwarded headers count, and for what.
func TestProxies(t *testing.T) {
	h := open(t, settings(t, []string{"gw.example"}, nil, []string{"10.0.0.0/8", "fd00::/8"}))
	const proxy, stranger = "10.1.1.1:5000", "198.51.100.9:5000"
	tests := []struct {
		name    string
		r       *http.Request
		ok      bool
		client  string
		forward bool
	}{
		{"no proxy", seen(stranger, "192.0.2.7:42617"), true, "198.51.100.9", false},
		{"forged host", seen(stranger, "attacker.test", "X-Forwarded-Host", "192.0.2.7:42617"), false, "198.51.100.9", true},
		{"forged host, own kept", seen(stranger, "192.0.2.7:42617", "X-Forwarded-Host", "attacker.test"), true, "198.51.100.9", true},
		{"forged client", seen(stranger, "192.0.2.7:42617", "X-Forwarded-For", "127.0.0.1"), true, "198.51.100.9", true},
		{"forged scheme", seen(stranger, "gw.example", "X-Forwarded-Proto", "https", "Origin", "https://gw.example"), false, "198.51.100.9", true},
		{"proxy", seen(proxy, "192.0.2.7:42617", "X-Forwarded-For", "203.0.113.5", "X-Forwarded-Host", "app.example"), true, "203.0.113.5", true},
		{"proxy, same origin", seen(proxy, "x", "X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "https", "Origin", "https://app.example"), true, "10.1.1.1", true},
		{"proxy, other scheme", seen(proxy, "x", "X-Forwarded-Host", "app.example", "X-Forwarded-Proto", "http", "Origin", "https://app.example"), false, "10.1.1.1", true},
		{"proxy, foreign page", seen(proxy, "x", "X-Forwarded-Host", "app.example", "Origin", "http://evil.example"), false, "10.1.1.1", true},
		{"the nearest proxy's word", seen(proxy, "x", "X-Forwarded-Host", "attacker.test, app.example", "X-Forwarded-Proto", "http,https", "Origin", "https://app.example"), true, "10.1.1.1", true},
		{"rubbish from a proxy", seen(proxy, "gw.example", "X-Forwarded-Host", "a b", "X-Forwarded-For", "x"), false, "10.1.1.1", true},
		{"a chain", seen(proxy, "gw.example", "X-Forwarded-For", "6.6.6.6, 203.0.113.5, 10.2.2.2"), true, "203.0.113.5", true},
		{"only proxies", seen(proxy, "gw.example", "X-Forwarded-For", "10.3.3.3, 10.2.2.2"), true, "10.3.3.3", true},
		{"IPv6 proxy", seen("[fd00::1]:5000", "gw.example", "X-Forwarded-For", "2001:db8::1"), true, "2001:db8::1", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := h.Check(tt.r); (err == nil) != tt.ok {
				t.Errorf("Check: %v; want it let in: %v", err, tt.ok)
			}
			if got := h.Client(tt.r).String(); got != tt.client {
				t.Errorf("the client is %s; want %s", got, tt.client)
			}
		})
	}
}

// TestTLS shows that the scheme is part of the origin.
func TestTLS(t *testing.T) {
	h := open(t, settings(t, []string{"gw.example"}, nil, nil))
	for origin, ok := range map[string]bool{
		"https://gw.example": true, "https://gw.example:443": true, "http://gw.example": false, "https://gw.example:80": false,
	} {
		r := seen("198.51.100.9:1", "gw.example", "Origin", origin)
		r.TLS = &tls.ConnectionState{}
		if err := h.Check(r); (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

// TestLocal shows which clients count as being on this machine.
func TestLocal(t *testing.T) {
	h := open(t, settings(t, []string{"gw.example"}, nil, []string{"127.0.0.9"}))
	for _, tt := range []struct {
		r    *http.Request
		want bool
	}{
		{seen("127.0.0.1:5", "gw.example"), true},
		{seen("[::1]:5", "gw.example"), true},
		{seen("[::ffff:127.0.0.1]:5", "gw.example"), true},
		{seen("192.0.2.7:5", "gw.example"), false},
		{seen("127.0.0.1:5", "gw.example", "X-Forwarded-For", "203.0.113.5"), false},
		{seen("127.0.0.1:5", "gw.example", "Forwarded", "for=203.0.113.5"), false},
		{seen("127.0.0.1:5", "gw.example", "Via", "1.1 proxy"), false},
		{seen("127.0.0.9:5", "gw.example", "X-Forwarded-For", "127.0.0.1"), false},
	} {
		tt.r.Header.Set("Authorization", "Bearer "+staticToken)
		p, err := h.Admit(tt.r)
		if err != nil || p.Local != tt.want {
			t.Errorf("%s %v: local %v, %v; want %v", tt.r.RemoteAddr, tt.r.Header, p.Local, err, tt.want)
		}
	}
}

// TestSource shows what counts as one source.
func TestSource(t *testing.T) {
	h := open(t, nil)
	for peer, want := range map[string]string{
		"192.0.2.1:1": "192.0.2.1", "[::ffff:192.0.2.1]:1": "192.0.2.1", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:1": "2001:db8:1:2::/64", "[::1]:1": "::1", "@": "unknown", "": "unknown",
	} {
		if got := h.Source(seen(peer, "x")); got != want {
			t.Errorf("%q is %q; want %q", peer, got, want)
		}
	}
}

// TestLists names the entry of the configuration that cannot be read.
func TestLists(t *testing.T) {
	for _, tt := range []struct {
		hosts, origins, proxies []string
		want                    string
	}{
		{[]string{"ok", "*.example"}, nil, nil, `gateway.allowed_hosts has the entry "*.example"`},
		{nil, []string{"null"}, nil, `gateway.allowed_origins has the entry "null"`},
		{nil, []string{"*"}, nil, `gateway.allowed_origins has the entry "*"`},
		{nil, []string{"https://chat.example/"}, nil, `gateway.allowed_origins has the entry "https://chat.example/"`},
		{nil, nil, []string{"all"}, `gateway.trusted_proxies has the entry "all"`},
	} {
		var s door.Settings
		if err := s.Lists(tt.hosts, tt.origins, tt.proxies); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v; want %s…", err, tt.want)
		}
	}
}
