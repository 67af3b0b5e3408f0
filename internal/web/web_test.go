package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allowing permits just this server's address.
func allowing(t *testing.T, s *httptest.Server) Options {
	t.Helper()
	addr := netip.MustParseAddrPort(s.Listener.Addr().String())
	return Options{Allow: func(a netip.AddrPort) bool { return a == addr }}
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func mustParse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func page(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

func TestGet(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, title, text, refused string }{
		{"html", "text/html; charset=utf-8", "<title>T</title><h1>Hé</h1><p>x</p>", "T", "# Hé\n\nx", ""},
		{"text", "text/plain", "a\n b", "", "a\n b", ""},
		{"json", "application/json", `{"a":1}`, "", `{"a":1}`, ""},
		{"problem", "application/problem+json", `{}`, "", `{}`, ""},
		{"latin", "text/plain; charset=ISO-8859-1", "caf\xe9", "", "café", ""},
		{"latin named in the page", "text/html", "<meta charset='windows-1252'><p>caf\xe9", "", "café", ""},
		{"wrongly called latin", "text/plain; charset=latin1", "café", "", "café", ""},
		{"broken", "text/plain", "a\xffb", "", "a\uFFFDb", ""},
		{"byte order mark", "text/plain", "\xef\xbb\xbfa", "", "a", ""},
		{"picture", "image/png", "\x89PNG", "", "", "is image/png, which cannot be read as text"},
		{"drawing", "image/svg+xml", "<svg/>", "", "", "which cannot be read as text"},
		{"download", "application/octet-stream", "x", "", "", "which cannot be read as text"},
		{"nonsense", ";;;", "hello", "", "hello", ""},
	} {
		s := serve(t, page(c.contentType, c.body))
		p, err := New(allowing(t, s)).Get(t.Context(), mustParse(t, s.URL))
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || p.Title != c.title || p.Text != c.text || p.Cut {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
}

func TestGetSaysWhoAsksAndNothingElse(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var got http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		page("text/plain", r.Method)(w, r)
	})
	f := New(allowing(t, s))
	for range 2 {
		p, err := f.Get(t.Context(), mustParse(t, s.URL+"/x#part"))
		if err != nil || p.Text != "GET" {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if got.Get("Cookie") != "" || got.Get("Authorization") != "" || !strings.Contains(got.Get("User-Agent"), "Grapnel") {
		t.Errorf("sent %v", got)
	}
}

func TestGetIsBounded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	o := allowing(t, s)
	o.MaxBytes = 1 << 20
	p, err := New(o).Get(t.Context(), mustParse(t, s.URL))
	if err != nil || len(p.Text) != 1<<20 || !p.Cut {
		t.Errorf("an endless page: %v", err)
	}

	done := make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-done
	})
	defer close(done)
	o = allowing(t, slow)
	o.Timeout = 50 * time.Millisecond
	if _, err := New(o).Get(t.Context(), mustParse(t, slow.URL)); err == nil || !strings.Contains(err.Error(), "did not answer within 50ms") {
		t.Errorf("a body that never comes: %v", err)
	}
}

func TestGetFailures(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) })
	if _, err := New(allowing(t, s)).Get(t.Context(), mustParse(t, s.URL)); err == nil || !strings.HasSuffix(err.Error(), "answered with HTTP 404 Not Found") {
		t.Errorf("404: %v", err)
	}
	o := allowing(t, s)
	s.Close()
	if _, err := New(o).Get(t.Context(), mustParse(t, s.URL)); err == nil || !strings.Contains(err.Error(), s.URL+" cannot be fetched: ") {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(o).Get(ctx, mustParse(t, s.URL)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestPrivateAddressesAreRefused without a test's leave: as numbers in every
// spelling, and as names.
func TestPrivateAddressesAreRefused(t *testing.T) {
	s := serve(t, page("text/plain", "secret"))
	port := s.Listener.Addr().(*net.TCPAddr).Port
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254", "192.168.0.1", "[fd00:ec2::254]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "100.100.100.200",
	} {
		_, err := New(Options{Timeout: 5 * time.Second}).Get(t.Context(), mustParse(t, fmt.Sprintf("http://%s:%d/", host, port)))
		if err == nil || !strings.Contains(err.Error(), "only public ones are fetched") {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1"} {
		if _, err := New(Options{Timeout: 5 * time.Second}).Get(t.Context(), mustParse(t, fmt.Sprintf("http://%s:%d/", host, port))); err == nil {
			t.Errorf("%s was fetched", host)
		}
	}
}

func TestRedirects(t *testing.T) {
	other := serve(t, page("text/plain", "other"))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); to {
		case "":
			page("text/plain", "here")(w, r)
		case "loop":
			http.Redirect(w, r, "/?to=loop", http.StatusFound)
		default:
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	})
	get := func(to string) (*Page, error) {
		return New(allowing(t, s)).Get(t.Context(), mustParse(t, s.URL+"/?to="+url.QueryEscape(to)))
	}
	if p, err := get("/next"); err != nil || p.URL != s.URL+"/next" || p.Text != "here" {
		t.Errorf("within the host: %+v, %v", p, err)
	}
	var moved *MovedError
	if _, err := get(other.URL + "/x"); !errors.As(err, &moved) || moved.To != other.URL+"/x" {
		t.Errorf("to another host: %v", err)
	}
	for to, want := range map[string]string{
		"loop":                         "redirects more than 5 times",
		"file:///etc/passwd":           "only http and https",
		"ftp://" + s.URL[len("http"):]: "cannot be fetched",
		strings.Replace(s.URL, "http://", "http://u:p@", 1) + "/x": "holds credentials",
		"http://169.254.169.254/latest":                            "redirects to another host",
	} {
		if _, err := get(to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %s: %v", to, err)
		}
	}
}

// TestNamesThatChange: a name is resolved again for a redirect, and what it
// resolves to then is checked again.
func TestNamesThatChange(t *testing.T) {
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	port := s.Listener.Addr().(*net.TCPAddr).Port
	o := allowing(t, s)
	o.Resolver = changing(t, [4]byte{127, 0, 0, 1}, [4]byte{10, 0, 0, 1})
	_, err := New(o).Get(t.Context(), mustParse(t, fmt.Sprintf("http://rebind.test:%d/", port)))
	if err == nil || !strings.Contains(err.Error(), "its address 10.0.0.1 is private") || requests.Load() != 1 {
		t.Errorf("%d requests: %v", requests.Load(), err)
	}
}

// changing is a resolver whose server answers each question about an IPv4
// address with the next one.
func changing(t *testing.T, answers ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { conn.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for n := 0; ; {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:size]) != nil || len(m.Questions) == 0 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: answers[min(n, len(answers)-1)]},
				}}
				n++
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"https://Example.com/a?b=c#d": "https://example.com/a?b=c",
		" http://example.com ":        "http://example.com",
		"http://[2606:4700::1]:8080/": "http://[2606:4700::1]:8080/",
	} {
		if u, err := Parse(in); err != nil || u.String() != want {
			t.Errorf("Parse(%q) = %v, %v", in, u, err)
		}
	}
	for in, want := range map[string]string{
		"":                            "only http and https",
		"example.com":                 "only http and https",
		"file:///etc/passwd":          "only http and https",
		"gopher://x":                  "only http and https",
		"http://":                     "names no host",
		"http:///x":                   "names no host",
		"https://user:secret@x.test/": "holds credentials",
		"http://еxample.com/":         "xn--", // a Cyrillic letter
		"http://x.test\\@y.test/":     "not a web address",
		"http://x.test/%zz":           "not a web address",
		"http://x.test/" + strings.Repeat("x", maxURL): "at most 4000",
	} {
		_, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Parse(%.60q): %v", in, err)
		}
	}
}

func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"http://Example.com": "example.com", "https://example.com:443/": "example.com", "http://example.com:80": "example.com",
		"http://example.com:443": "example.com:443", "https://[2606:4700::1]:443/": "[2606:4700::1]", "http://[2606:4700::80]/": "[2606:4700::80]",
	} {
		if got := Host(mustParse(t, in)); got != want {
			t.Errorf("Host(%s) = %s", in, got)
		}
	}
}

// FuzzParse: what is taken is http or https with a host and no credentials.
func FuzzParse(f *testing.F) {
	f.Add("https://example.com/a#b")
	f.Add("http://u@h")
	f.Add("http://[::1%25eth0]/")
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
			t.Errorf("%q became %+v", s, u)
		}
	})
}
