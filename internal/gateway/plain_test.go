package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

func TestHealthNeedsNoCredential(t *testing.T) {
	sick := errors.New("the store is gone: /secret/place")
	var fault error
	g := start(t, func(o *Options) { o.Alive = func(context.Context) error { return fault } })
	status, body := g.do("GET", "/health", "")
	if status != 200 || !strings.Contains(body, `"status":"ok","version":"1.2","uptime":`) {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := g.do("POST", "/health", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
	fault = sick
	if status, body := g.do("GET", "/health", ""); status != 503 || !strings.Contains(body, `"failing"`) || strings.Contains(body, "secret") {
		t.Errorf("%d %s", status, body)
	}
}

func TestMetricsNeedACredential(t *testing.T) {
	g := start(t, func(o *Options) { o.Load = func(context.Context) (int, int) { return 3, 2 } })
	if status, _ := g.do("GET", "/metrics", ""); status != http.StatusUnauthorized {
		t.Errorf("without: %d", status)
	}
	c := g.mustDial("")
	ask(t, c, initialize)
	ask(t, c, `{"jsonrpc":"2.0","id":2,"method":"session/list"}`)
	_, body := g.do("GET", "/metrics", goodToken)
	for _, want := range []string{
		`grapnel_build_info{version="1.2"} 1`,
		`grapnel_connections{transport="websocket"} 1`,
		`grapnel_connections{transport="http"} 0`,
		`grapnel_sessions_active 3`,
		`grapnel_turns_running 2`,
		`grapnel_acp_requests_total{method="session/list",outcome="ok"} 1`,
		`grapnel_acp_request_seconds_count{method="initialize"} 1`,
		`grapnel_http_requests_total{route="/acp",status="101"} 1`,
		`grapnel_http_requests_total{route="/metrics",status="401"} 1`,
		`process_resident_memory_bytes`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%.2000s", want, body)
		}
	}
	off := start(t, func(o *Options) { o.Metrics = false })
	if status, _ := off.do("GET", "/metrics", goodToken); status != http.StatusNotFound {
		t.Errorf("turned off: %d", status)
	}
}

// TestMetricsKeepNoNamesThatClientsMakeUp: whatever is refused before it is known
// what the method is, the rate limit included.
func TestMetricsKeepNoNamesThatClientsMakeUp(t *testing.T) {
	g := start(t, nil)
	for _, code := range []acp.ErrorCode{acp.CodeMethodNotFound, acp.CodeInvalidRequest, serve.CodeRateLimited} {
		g.Observe(serve.ConnOptions{ID: "c"}, "made/up", &acp.Error{Code: code}, time.Millisecond)
	}
	_, body := g.do("GET", "/metrics", goodToken)
	if strings.Contains(body, "made/up") || !strings.Contains(body, `{method="unknown",outcome="-32005"} 1`) {
		t.Error(body)
	}
}

// TestMetricsDoNotWaitForSessions gives up on sessions that do not answer.
func TestMetricsDoNotWaitForSessions(t *testing.T) {
	bounded := make(chan bool, 2)
	g := start(t, func(o *Options) {
		o.Load = func(ctx context.Context) (int, int) {
			_, ok := ctx.Deadline()
			bounded <- ok
			return 1, 1
		}
	})
	g.do("GET", "/metrics", goodToken)
	if !<-bounded {
		t.Error("nothing bounds the wait")
	}
}

func TestLogHasALinePerRequestAndNoSecrets(t *testing.T) {
	g := start(t, nil)
	g.do("GET", "/acp?token=topsecret", "alsosecret")
	c := g.mustDial("?token=topsecret", "bearer.mysecret")
	ask(t, c, initialize)
	log := g.log.String()
	for _, want := range []string{
		"msg=http method=GET route=/acp outcome=401 ms=",
		"msg=http method=GET route=/acp outcome=101 ms=",
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("not one line of %s in\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret") {
		t.Errorf("a secret is in\n%s", log)
	}
}

func TestStreamableOverOneEndpoint(t *testing.T) {
	g := start(t, nil)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	post := func(id, body string) *http.Response {
		req, err := http.NewRequest("POST", "http://"+g.addr+"/acp?agent=b", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+goodToken)
		req.Header.Set("Content-Type", "application/json")
		if id != "" {
			req.Header.Set("Acp-Connection-Id", id)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	resp := post("", initialize)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), `"agent":"b"`) || !strings.Contains(string(body), `"owner":"ann"`) {
		t.Fatalf("%d %s %v", resp.StatusCode, body, err)
	}
	id := resp.Header.Get("Acp-Connection-Id")
	if n := g.clients.of(overStreams); n != 1 || id == "" {
		t.Errorf("%d connections, id %q", n, id)
	}
	resp = post(id, `{"jsonrpc":"2.0","id":2,"method":"x"}`)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("a second request: %d", resp.StatusCode)
	}
	if status, _ := g.do("GET", "/acp", goodToken, "Acp-Connection-Id", "none", "Accept", "text/event-stream"); status != 404 {
		t.Errorf("an unknown connection: %d", status)
	}
	if status, _ := g.do("DELETE", "/acp", goodToken, "Acp-Connection-Id", id); status != http.StatusAccepted {
		t.Errorf("delete: %d", status)
	}
}

func TestHTTP2(t *testing.T) {
	certs := newFiles(t, "one")
	c, err := NewCertificates(certs.settings(), start(t, nil).opts.Logger)
	if err != nil {
		t.Fatal(err)
	}
	secure, plain := start(t, func(o *Options) { o.TLS = c }), start(t, nil)
	for url, p := range map[string]func(*http.Protocols){
		"https://" + secure.addr: func(p *http.Protocols) { p.SetHTTP2(true) },
		"http://" + plain.addr:   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certs.pool}, Protocols: new(http.Protocols)}
		p(tr.Protocols)
		req, err := http.NewRequest("GET", url+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.ProtoMajor != 2 || resp.StatusCode != 200 {
			t.Errorf("%s: %s %d", url, resp.Proto, resp.StatusCode)
		}
		tr.CloseIdleConnections()
	}
	old, err := tls.Dial("tcp", secure.addr, &tls.Config{RootCAs: certs.pool, MaxVersion: tls.VersionTLS11})
	if err == nil {
		_ = old.Close()
		t.Error("TLS 1.1 was taken")
	}
}

// TestTheOldestStrangerGoes: whoever opens connections and says nothing keeps no
// one out, and cuts off no one who is in.
func TestTheOldestStrangerGoes(t *testing.T) {
	g := start(t, func(o *Options) { o.Strangers = 3 })
	inside := g.mustDial("")
	ask(t, inside, initialize)
	var silent []net.Conn
	for range 5 {
		c, err := net.Dial("tcp", g.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
		if _, err := io.WriteString(c, "GET /health HTTP/1.1\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		if len(silent) <= 3 {
			continue
		}
		gone := silent[len(silent)-4]
		_ = gone.SetReadDeadline(time.Now().Add(patience))
		if _, err := gone.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the oldest was not cut off: %v", err)
		}
	}
	if status, _ := g.do("GET", "/health", ""); status != 200 {
		t.Errorf("somebody else got %d", status)
	}
	ask(t, inside, `{"jsonrpc":"2.0","id":2,"method":"x"}`)
}

func TestAPortInUseIsOneSentence(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = Address{"127.0.0.1", port}.Listen()
	want := fmt.Sprintf("port %d on 127.0.0.1 is in use by another program: end it, or choose another port by gateway.port or --port (0 picks one)", port)
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "localhost": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "example.com": false,
	} {
		if got := (Address{Host: host}).Loopback(); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestURLs(t *testing.T) {
	at := func(s string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, c := range []struct {
		at          string
		secure      bool
		prefix, url string
		acp         string
	}{
		{"127.0.0.1:80", false, "", "http://127.0.0.1:80", "ws://127.0.0.1:80/acp"},
		{"0.0.0.0:80", true, "/x", "https://127.0.0.1:80/x", "wss://127.0.0.1:80/x/acp"},
		{"[::1]:80", false, "", "http://[::1]:80", "ws://[::1]:80/acp"},
		{"[::]:80", false, "", "http://127.0.0.1:80", "ws://127.0.0.1:80/acp"},
	} {
		if url, acp := URLs(at(c.at), c.secure, c.prefix); url != c.url || acp != c.acp {
			t.Errorf("%s: %s %s", c.at, url, acp)
		}
	}
}

// TestNotifyAndWatchdog listens as systemd does.
func TestNotifyAndWatchdog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("no datagram sockets here: %v", err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "20000")
	alive := make(chan error, 1)
	alive <- nil
	g := start(t, func(o *Options) {
		o.Alive = func(context.Context) error {
			select {
			case err := <-alive:
				return err
			default:
				return errors.New("it hangs")
			}
		}
	})
	read := func() string {
		_ = l.SetReadDeadline(time.Now().Add(patience))
		buf := make([]byte, 100)
		n, err := bufio.NewReader(l).Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	g.Notify("READY=1")
	if got := read(); got != "READY=1" {
		t.Error(got)
	}
	ctx, stop := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		g.Watch(ctx)
	}()
	if got := read(); got != "WATCHDOG=1" {
		t.Error(got)
	}
	g.Notify("STOPPING=1") // what comes next, as the watchdog is not told while it hangs
	if got := read(); got != "STOPPING=1" {
		t.Error(got)
	}
	alive <- nil
	if got := read(); got != "WATCHDOG=1" {
		t.Error(got)
	}
	stop()
	<-watched
}

func FuzzMethodOf(f *testing.F) {
	f.Add([]byte(initialize))
	f.Add([]byte(`{"method":"initialize","method":"x"}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, msg []byte) {
		method, call := methodOf(jsontext.Value(msg))
		if !call && method != "" {
			t.Errorf("%q is no call and has the method %q", msg, method)
		}
	})
}
