package fieldtest

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// TestW4SizesOfMessages: what fits the one limit gets through, both ways; more
// closes the connection with 1009 and touches neither session nor gateway.
func TestW4SizesOfMessages(t *testing.T) {
	w := NewWorld(t, "[acp]", "max_message_bytes = 16000000")
	g := w.Gateway()
	c := g.Connect(Dial{})
	c.Init()
	s := c.New()
	for _, size := range []int{40 << 10, 1 << 20, 12 << 20} {
		from, text := c.Lines(), strings.Repeat("x", size)
		params := PromptParams(s, "D:SAY got it")
		params["_meta"] = object{"filler": text}
		if got := c.Response(c.Begin("session/prompt", params)).StopReason(); got != "end_turn" || c.Said(s, from) != "got it" {
			t.Errorf("%d bytes: %s", size, got)
		}
	}
	if err := c.send(Request("1", "session/prompt", PromptParams(s, strings.Repeat("x", 17<<20)))); err == nil {
		if code, reason := c.Closed(); code != 1009 || !strings.Contains(reason, "acp.max_message_bytes") {
			t.Errorf("closed by %d %q", code, reason)
		}
	}
	<-c.Ended
	again := g.Connect(Dial{})
	again.Init()
	again.Must("session/load", w.LoadParams(s), nil)
	if got := again.Prompt(s, "D:SAY still here").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

// TestW8BehindAReverseProxy: with TLS and a prefix, on one port. A page of the
// proxy's own origin gets in, one of another does not.
func TestW8BehindAReverseProxy(t *testing.T) {
	w := NewWorld(t, "[gateway]", `path_prefix = "x"`, `trusted_proxies = ["127.0.0.1"]`)
	g := w.Gateway()
	if !strings.HasSuffix(g.ACP, "/x/acp") {
		t.Errorf("ACP is at %s", g.ACP)
	}
	target, err := url.Parse("http://" + g.Host())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.SetXForwarded()
	}})
	t.Cleanup(proxy.Close) // after the clients are gone
	pool := x509.NewCertPool()
	pool.AddCert(proxy.Certificate())
	behind := *g
	behind.ACP = "wss" + strings.TrimPrefix(proxy.URL, "https") + "/x/acp"
	page := func(origin string) Dial {
		return Dial{TLS: &tls.Config{RootCAs: pool}, Header: http.Header{"Origin": {origin}}, Protocols: []string{"zeroclaw.acp.v1", "bearer." + Token}, Anonymous: true}
	}
	c := behind.Connect(page(proxy.URL))
	c.Init()
	if got := c.Prompt(c.New(), "D:SAY through the proxy").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	for _, foreign := range []string{"https://evil.example.com", strings.Replace(proxy.URL, "https", "http", 1), "http://" + g.Host()} {
		if _, resp, err := behind.TryConnect(page(foreign)); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("a page of %s: %v %v", foreign, resp, err)
		}
	}
	resp, err := proxy.Client().Get(proxy.URL + "/x/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("health: %s", resp.Status)
	}
}
