package ws

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestDialErrors says in one sentence each why there is no connection.
func TestDialErrors(t *testing.T) {
	answering := func(status int, header ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for i := 0; i < len(header); i += 2 {
					w.Header().Set(header[i], header[i+1])
				}
				http.Error(w, "in the body", status)
			}))
			t.Cleanup(s.Close)
			return s.URL
		}
	}
	tests := []struct {
		name   string
		server func(t *testing.T) string
		status int
		want   string
	}{
		{"401", answering(401), 401, "the credentials are missing or wrong (HTTP 401)"},
		{"403", answering(403), 403, "the server does not allow it (HTTP 403)"},
		{"404", answering(404), 404, "there is nothing at this path (HTTP 404)"},
		{"407", answering(407), 407, "the proxy wants credentials (HTTP 407)"},
		{"429", answering(429), 429, "try again later (HTTP 429)"},
		{"200", answering(200), 200, "it is not a WebSocket server (HTTP 200)"},
		{"426", answering(426), 426, "it is not a WebSocket server (HTTP 426)"},
		{"502", answering(502), 502, "is not ready (HTTP 502)"},
		{"101 of something else", answering(101, "Connection", "Upgrade", "Upgrade", "h2c"), 101, "handshake is not a WebSocket's"},
		{"nothing there", func(t *testing.T) string {
			l, _ := net.Listen("tcp", "127.0.0.1:0")
			l.Close()
			return "ws://" + l.Addr().String()
		}, 0, "connection refused, nothing listens there"},
		{"no such host", func(*testing.T) string { return "ws://nobody.invalid" }, 0, `there is no host "nobody.invalid"`},
		{"a bad certificate", func(t *testing.T) string { return serve(t, true, AcceptOptions{}).URL }, 0, "unknown authority"},
		{"TLS where there is none", func(t *testing.T) string {
			return strings.Replace(serve(t, false, AcceptOptions{}).URL, "http:", "wss:", 1)
		}, 0, "it does not speak TLS"},
		{"not HTTP", saying(t, "SSH-2.0-OpenSSH_9.9\r\n"), 0, "it does not speak HTTP"},
		{"no answer", saying(t, ""), 0, "it closed the connection without an answer"},
		{"a scheme that is none", func(*testing.T) string { return "ftp://x" }, 0, "begins with ws:// or wss://"},
		{"no URL", func(*testing.T) string { return "ws://a b" }, 0, "begins with ws:// or wss://"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := tt.server(t)
			secret, err := url.Parse(target)
			if err == nil {
				secret.User, secret.RawQuery = url.UserPassword("me", "s3cret"), "token=s3cret"
				target = secret.String()
			}
			_, err = Dial(t.Context(), target, DialOptions{HTTPClient: &http.Client{Transport: direct(t)}})
			if err == nil {
				t.Fatal("it connected")
			}
			text := err.Error()
			if !strings.Contains(text, tt.want) || strings.ContainsAny(text, "\n") || strings.Contains(text, "s3cret") {
				t.Errorf("it says: %s", text)
			}
			var answer *HandshakeError
			if errors.As(err, &answer) != (tt.status != 0) || answer != nil && answer.Status != tt.status {
				t.Errorf("the answer is %+v, want HTTP %d", answer, tt.status)
			}
			if tt.status > 200 && !strings.Contains(answer.Body, "in the body") {
				t.Errorf("the body is %q", answer.Body)
			}
		})
	}
}

// direct is a transport of its own, closed with the test.
func direct(t *testing.T) *http.Transport {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// saying is a server that says something to everyone and closes.
func saying(t *testing.T, words string) func(*testing.T) string {
	return func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4<<10))
				_, _ = c.Write([]byte(words))
				c.Close()
			}
		}()
		return "ws://" + l.Addr().String()
	}
}

// TestDialTimeout shows that the context bounds a handshake nobody answers.
func TestDialTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = Dial(ctx, "ws://"+l.Addr().String(), DialOptions{HTTPClient: &http.Client{Transport: direct(t)}})
	if err == nil || !strings.Contains(err.Error(), "did not answer in time") || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestDialContextEnds shows that the context of the handshake is not that of the
// connection.
func TestDialContextEnds(t *testing.T) {
	h := serve(t, false, AcceptOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	client, err := Dial(ctx, h.URL, DialOptions{HTTPClient: h.Client()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cancel()
	server := h.next(t)
	end := drain(server)
	write(t, client, "1")
	client.Close()
	if o := <-end; o.msgs != 1 {
		t.Errorf("%d messages came, %v", o.msgs, o.err)
	}
}

// TestProxyAndCookies shows that the handshake goes through a proxy, with the
// header given and the cookies of the last time.
func TestProxyAndCookies(t *testing.T) {
	var last atomic.Pointer[http.Request]
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last.Store(r)
		http.SetCookie(w, &http.Cookie{Name: "affinity", Value: "7"})
		if c, err := Accept(w, r, AcceptOptions{}); err == nil {
			defer c.Close()
			_, _ = c.ReadMessage(context.Background())
		}
	}))
	defer backend.Close()
	var proxied atomic.Int32
	proxyServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxied.Add(1)
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetXForwarded() }}).ServeHTTP(w, r)
	}))
	defer proxyServer.Close()
	through, _ := url.Parse(proxyServer.URL)
	transport := direct(t)
	transport.Proxy = http.ProxyURL(through)
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Transport: transport, Jar: jar}
	for _, cookie := range []string{"", "affinity=7"} {
		c, err := Dial(t.Context(), strings.Replace(backend.URL, "http", "ws", 1), DialOptions{
			HTTPClient: client, Header: http.Header{"Authorization": {"Bearer x"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if r := last.Load(); r.Header.Get("Cookie") != cookie || r.Header.Get("Authorization") != "Bearer x" {
			t.Errorf("the handshake had %v", r.Header)
		}
	}
	if proxied.Load() != 2 {
		t.Errorf("%d handshakes of 2 went through the proxy", proxied.Load())
	}
}

// TestDowngrade shows that no redirect leads from https to http.
func TestDowngrade(t *testing.T) {
	plain := serve(t, false, AcceptOptions{})
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer secure.Close()
	_, err := Dial(t.Context(), secure.URL, DialOptions{HTTPClient: secure.Client()})
	if err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("got %v", err)
	}
	onward := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer onward.Close()
	c, err := Dial(t.Context(), onward.URL, DialOptions{HTTPClient: onward.Client()})
	if err != nil {
		t.Fatal(err)
	}
	server := plain.next(t)
	end := drain(server)
	c.Close()
	<-end
}
