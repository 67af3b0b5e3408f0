package fieldtest

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wide makes a world whose model takes in prompts of any size. Lines of more go
// to the top of config.toml.
func wide(t *testing.T, more ...string) *World {
	t.Helper()
	w := NewWorld(t)
	w.Configure(strings.Join(more, "\n") + fmt.Sprintf(`
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
context_window = 100_000_000
[agents.main]
provider = "fake"
`, w.URL))
	return w
}

// bridge runs an editor's bridge to a gateway.
func (g *Gateway) bridge() *Agent {
	g.tb.Helper()
	file := filepath.Join(g.tb.TempDir(), "token")
	if err := os.WriteFile(file, []byte(Token), 0o600); err != nil {
		g.tb.Fatal(err)
	}
	return g.w.Start("--url", g.ACP, "--token-file", file)
}

func TestW4LargeMessagesPassBothWays(t *testing.T) {
	w := wide(t)
	g := w.Gateway()
	for name, link := range map[string]*Link{"socket": g.Connect(Dial{}).Link, "bridge": g.bridge().Link} {
		t.Run(name, func(t *testing.T) {
			link.Init()
			s := link.New()
			for _, size := range []int{40 << 10, 1 << 20, 12 << 20} {
				prompt := fmt.Sprintf("D:CHUNKS 1,%d,0\n%s", size, strings.Repeat("x", size))
				from := link.Lines()
				if stop := link.Prompt(s, prompt).StopReason(); stop != "end_turn" {
					t.Fatalf("a prompt of %d bytes: %.200s", size, stop)
				}
				if said := link.Said(s, from); said != fmt.Sprintf("%0*d ", size-1, 1) {
					t.Errorf("an update of %d bytes came with %d", size, len(said))
				}
				all := w.Model.Requests()
				if got := all[len(all)-1].Prompt; !strings.HasSuffix(got, prompt) {
					t.Errorf("of a prompt of %d bytes the model got %d", len(prompt), len(got))
				}
			}
		})
	}
}

func TestW4TooLargeIsSaidAndTheSessionLives(t *testing.T) {
	w := wide(t, "[acp]", "max_message_bytes = 1048576")
	g := w.Gateway()
	c := g.Connect(Dial{})
	c.Init()
	s := c.New()
	c.Send(Request("7", "session/prompt", PromptParams(s, strings.Repeat("x", 2<<20))))
	if code, reason := c.Closed(); code != 1009 || reason == "" {
		t.Errorf("the connection was closed with %d %q", code, reason)
	}
	again := g.Connect(Dial{})
	again.Init()
	again.Must("session/resume", w.LoadParams(s), nil)
	if stop := again.Prompt(s, "D:SAY alive").StopReason(); stop != "end_turn" {
		t.Errorf("after that: %s", stop)
	}
}

func TestW8BehindAProxyWithTLSAndAPrefix(t *testing.T) {
	w := NewWorld(t, "[gateway]", `path_prefix = "/x"`, `trusted_proxies = ["127.0.0.1"]`, `allowed_hosts = ["127.0.0.1"]`)
	g := w.Gateway()
	inner, err := url.Parse("http://" + g.Host())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(inner)
		r.SetXForwarded()
	}})
	defer proxy.Close()
	outside := *g
	outside.ACP = "wss" + strings.TrimPrefix(proxy.URL, "https") + "/x/acp"
	trust := proxy.Client().Transport.(*http.Transport).TLSClientConfig
	page := func(origin string) Dial {
		return Dial{TLS: &tls.Config{RootCAs: trust.RootCAs}, Header: http.Header{"Origin": {origin}}}
	}
	c := outside.Connect(page(proxy.URL))
	c.Init()
	s := c.New()
	from := c.Lines()
	if stop := c.Prompt(s, "D:SAY through").StopReason(); stop != "end_turn" || c.Said(s, from) != "through" {
		t.Errorf("a turn: %s, %q", stop, c.Said(s, from))
	}
	for _, m := range c.Messages() {
		if strings.Contains(c.Raw(m.Line), ":"+inner.Port()) {
			t.Errorf("the inner port is told: %s", c.Raw(m.Line))
		}
	}
	if _, resp, err := outside.TryConnect(page("https://evil.example")); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %v %v", resp, err)
	}
	c.Hangup()
	g.Stop()
}
