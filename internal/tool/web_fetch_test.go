package tool

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/web"
)

// webWorld is a web of one server, which the tool may reach.
func webWorld(t *testing.T, h http.HandlerFunc) (Tool, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	addr := netip.MustParseAddrPort(s.Listener.Addr().String())
	return WebFetch(web.New(web.Options{Allow: func(a netip.AddrPort) bool { return a == addr }})), s.URL
}

func TestWebFetch(t *testing.T) {
	tool, address := webWorld(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/long":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte(strings.Repeat("é", 100<<10)))
		case "/empty":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html></html>"))
		case "/moved":
			http.Redirect(w, r, "https://elsewhere.test/x", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<title>The \x1b[31mtitle</title><h1>Hello</h1><p>\u202eworld<img src='http://evil.test/x'>"))
		}
	})
	env := newEnv(t, nil)
	call := prepare(t, env, tool, `{"url":"`+address+`/a?b=c"}`)
	if s := call.Subject; !s.Network || s.Acts || s.Host != strings.TrimPrefix(address, "http://") || call.Kind != KindFetch || call.Title != "Fetch "+address+"/a?b=c" {
		t.Errorf("judged by %+v, titled %q", s, call.Title)
	}
	got := call.Run(t.Context(), &recorder{})
	want := Result{
		Text: "The title\n" + address + "/a?b=c\n\n# Hello\n\nworld",
		Content: []Content{
			{Link: &ResourceLink{URI: address + "/a?b=c", Name: "The title", MimeType: "text/html"}},
			{Text: "```\n# Hello\n\nworld\n```"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	long := run(t, env, tool, `{"url":"`+address+`/long"}`)
	if len(long.Text) > DefaultLimits().ModelBytes+200 || !strings.HasSuffix(long.Text, "é\n[the page is longer; this is its beginning]") {
		t.Errorf("%d bytes of a long page: %.100s", len(long.Text), long.Text)
	}
	if got := run(t, env, tool, `{"url":"`+address+`/empty"}`).Text; !strings.HasSuffix(got, "[the page has no text]") {
		t.Errorf("an empty page: %q", got)
	}
	refuses(t, env, tool, `{"url":"`+address+`/moved"}`, "fetch https://elsewhere.test/x if it is wanted")
}

func TestWebFetchRefuses(t *testing.T) {
	env := newEnv(t, nil)
	tool := WebFetch(web.New(web.Options{}))
	refuses(t, env, tool, `{}`, "only http and https")
	refuses(t, env, tool, `{"url":"file:///etc/passwd"}`, "only http and https")
	refuses(t, env, tool, `{"url":"http://u:p@x.test/"}`, "holds credentials")
	refuses(t, env, tool, `{"url":"http://127.0.0.1:1/"}`, "its address 127.0.0.1 is this machine's own, and only public ones are fetched")
	for _, other := range Default() {
		if other.Spec().Name == tool.Spec().Name {
			t.Error("it is on by default")
		}
	}
}
