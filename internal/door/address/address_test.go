package address_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/door/address"
)

// host is a Host in a form that go-cmp shows.
func host(h address.Host) string {
	return strings.Join([]string{h.Name, h.IP.String()}, " ")
}

func TestParseHost(t *testing.T) {
	tests := []struct {
		text string
		want address.Host
	}{
		{"localhost", address.Host{Name: "localhost"}},
		{"LocalHost:80", address.Host{Name: "localhost", Port: 80}},
		{"gw.example:42617", address.Host{Name: "gw.example", Port: 42617}},
		{"my_container-1:8080", address.Host{Name: "my_container-1", Port: 8080}},
		{"127.0.0.1:1", address.Host{Name: "127.0.0.1", Port: 1, IP: netip.MustParseAddr("127.0.0.1")}},
		{"[::1]", address.Host{Name: "::1", IP: netip.MustParseAddr("::1")}},
		{"[::1]:65535", address.Host{Name: "::1", Port: 65535, IP: netip.MustParseAddr("::1")}},
		{"[0:0:0:0:0:0:0:1]:1", address.Host{Name: "::1", Port: 1, IP: netip.MustParseAddr("::1")}},
		{"[::ffff:127.0.0.1]:1", address.Host{Name: "127.0.0.1", Port: 1, IP: netip.MustParseAddr("127.0.0.1")}},
		{"127.1", address.Host{Name: "127.1"}}, // a name to us, whatever others make of it
		{"127.0.0.1.evil.example", address.Host{Name: "127.0.0.1.evil.example"}},
	}
	for _, tt := range tests {
		got, err := address.ParseHost(tt.text)
		if err != nil || host(got) != host(tt.want) || got.Port != tt.want.Port {
			t.Errorf("ParseHost(%q) = %+v, %v; want %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParseHostRefuses(t *testing.T) {
	for _, text := range []string{
		"", ":", ":80", "localhost:", "localhost:0", "localhost:080", "localhost:+80", "localhost:65536", "localhost:http",
		"localhost.", "localhost.:80", "gw..example", ".example", "-gw", "gw-.example", "*", "*.example", "a,b", "a b", " localhost",
		"user@localhost", "user:pass@localhost", "localhost/", "localhost?x", "::1", "::1:80", "[::1", "::1]", "[::1]80", "[localhost]",
		"[127.0.0.1]", "[fe80::1%eth0]", "fe80::1%eth0", "[[::1]]", "locálhost", "localhost\x00", "a:1:2", strings.Repeat("a", 400),
	} {
		if got, err := address.ParseHost(text); err == nil {
			t.Errorf("ParseHost(%q) = %+v; want an error", text, got)
		}
	}
}

func TestLoopback(t *testing.T) {
	for text, want := range map[string]bool{
		"localhost": true, "LOCALHOST:9": true, "127.0.0.1": true, "127.255.0.3": true, "[::1]:1": true, "[::ffff:127.0.0.1]": true,
		"localhost.evil.example": false, "127.0.0.1.evil.example": false, "0.0.0.0": false, "[::]": false, "10.0.0.1": false, "127.1": false,
	} {
		h, err := address.ParseHost(text)
		if err != nil || h.Loopback() != want {
			t.Errorf("%q: loopback %v, %v; want %v", text, h.Loopback(), err, want)
		}
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		host, listed, scheme string
		want                 bool
	}{
		{"gw.example", "gw.example", "https", true},
		{"gw.example:8443", "gw.example", "https", true},
		{"gw.example", "gw.example:443", "https", true},
		{"gw.example", "gw.example:443", "http", false},
		{"gw.example:443", "gw.example:443", "http", true},
		{"gw.example:8443", "gw.example:443", "https", false},
		{"sub.gw.example", "gw.example", "https", false},
		{"gw.example.evil", "gw.example", "https", false},
	}
	for _, tt := range tests {
		h, _ := address.ParseHost(tt.host)
		listed, _ := address.ParseHost(tt.listed)
		if got := h.Matches(listed, tt.scheme); got != tt.want {
			t.Errorf("%s by %s, with %s listed: %v; want %v", tt.host, tt.scheme, tt.listed, got, tt.want)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	tests := []struct {
		text string
		want address.Origin
	}{
		{"http://localhost", address.Origin{Scheme: "http", Host: "localhost", Port: 80}},
		{"https://Chat.Example", address.Origin{Scheme: "https", Host: "chat.example", Port: 443}},
		{"HTTPS://chat.example:443", address.Origin{Scheme: "https", Host: "chat.example", Port: 443}},
		{"http://[::1]:42617", address.Origin{Scheme: "http", Host: "::1", Port: 42617}},
		{"vscode-webview://1a2b-3c", address.Origin{Scheme: "vscode-webview", Host: "1a2b-3c"}},
	}
	for _, tt := range tests {
		got, err := address.ParseOrigin(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("ParseOrigin(%q): %v (-want +got)\n%s", tt.text, err, diff)
		}
	}
	for _, text := range []string{
		"", "null", "NULL", "*", "https://*", "https://*.example", "chat.example", "//chat.example", "https:chat.example", "://a", "1http://a",
		"https://chat.example/", "https://chat.example/x", "https://u@chat.example", "https://u:p@chat.example", "https://chat.example.",
		"https://chat.example:", "https://", "file://", "https://a https://b", "https://chat.example?x", "https://chat.example#x", "data:text/html,x",
	} {
		if got, err := address.ParseOrigin(text); err == nil {
			t.Errorf("ParseOrigin(%q) = %+v; want an error", text, got)
		}
	}
}

func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1": "10.0.0.1/32", "10.1.2.3/8": "10.0.0.0/8", "::1": "::1/128", "fd00::1/8": "fd00::/8", "::ffff:10.0.0.1": "10.0.0.1/32",
	} {
		if got, err := address.ParseNetwork(text); err != nil || got.String() != want {
			t.Errorf("ParseNetwork(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "*", "localhost", "10.0.0.0/33", "10.0.0", "fe80::1%eth0", "10.0.0.1/", "::ffff:10.0.0.0/104"} {
		if got, err := address.ParseNetwork(text); err == nil {
			t.Errorf("ParseNetwork(%q) = %v; want an error", text, got)
		}
	}
}

// FuzzParse holds that what is accepted is written without anything a browser, a
// proxy and we could read differently, and reads the same a second time.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"localhost:80", "[::1]:1", "https://chat.example:8443", "null", "http://a@b", "127.0.0.1", "[::ffff:1.2.3.4]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := address.ParseHost(text); err == nil {
			if strings.ContainsAny(h.Name, "/@?#*%, \t\r\n[]\\") || h.Name != strings.ToLower(h.Name) || strings.HasSuffix(h.Name, ".") {
				t.Errorf("ParseHost(%q) accepts the name %q", text, h.Name)
			}
			written := h.Name
			if h.IP.Is6() {
				written = "[" + written + "]"
			}
			again, err := address.ParseHost(written)
			if err != nil || again.Name != h.Name || again.IP != h.IP {
				t.Errorf("ParseHost(%q) = %+v, and its name reads as %+v, %v", text, h, again, err)
			}
		}
		if o, err := address.ParseOrigin(text); err == nil && (o.Host == "" || o.Host == "null" && !strings.Contains(text, "://")) {
			t.Errorf("ParseOrigin(%q) = %+v", text, o)
		}
	})
}
