package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
)

// site is a server reached by HTTP, of the handler.
func site(t *testing.T, transport Transport, h http.Handler) Server {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return Server{Name: "web", Transport: transport, URL: web.URL + "/mcp", Secrets: func(context.Context) (Secrets, error) {
		return Secrets{Headers: map[string]string{"Authorization": "Bearer SEKRET-TOKEN"}}, nil
	}}
}

// guarded wants the header that site sends.
func guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer SEKRET-TOKEN" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestWeb(t *testing.T) {
	for transport, h := range map[Transport]http.Handler{
		HTTP: mcptest.HTTP(mcptest.New()),
		SSE:  mcptest.SSE(mcptest.New()),
	} {
		t.Run(string(transport), func(t *testing.T) {
			s := opened(t, site(t, transport, guarded(h)))
			if r := call(t, s, "web__echo", `{"text":"hi"}`); r.IsError || r.Text != "echo: hi" {
				t.Errorf("echo returned %+v; notices %+v", r, s.Notices())
			}
			call(t, s, "web__grow", `{"text":"later"}`)
			awaitTool(t, s, "web__later", true)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			began := time.Now()
			if r := callCtx(ctx, t, s, "web__hang", `{}`); !r.IsError || time.Since(began) > 5*time.Second {
				t.Errorf("cancelled after %s: %+v", time.Since(began), r)
			}
			if r := call(t, s, "web__echo", `{"text":"still"}`); r.Text != "echo: still" {
				t.Errorf("after a cancel: %+v", r)
			}
		})
	}
}

// awaitTool waits until a tool is there, or is not.
func awaitTool(t *testing.T, s *Servers, name string, there bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for (lookup(s, name) != nil) != there {
		if time.Now().After(deadline) {
			t.Fatalf("%s: there is %v", name, lookup(s, name) != nil)
		}
		time.Sleep(time.Millisecond) // the list changes on the server's word, which nothing here sees
	}
}

func TestWebFailures(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("credentials went to another host")
		}
	}))
	defer elsewhere.Close()
	other := strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"credentials": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "it wants credentials, or others (401 Unauthorized); set headers"},
		"no server":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "it answered 404 Not Found; check its url"},
		"broken":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "it answered 500"},
		"a page":      {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "unsupported content type"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/x", http.StatusTemporaryRedirect)
		}, "it leads to localhost"},
		"the secret": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/"+r.Header.Get("Authorization"))
		}, "unsupported content type"},
		"a flood": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 20 {
				fmt.Fprint(w, strings.Repeat(" ", 1<<20))
			}
		}, "more than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, transport := range []Transport{HTTP, SSE} {
				s := opened(t, site(t, transport, c.handler))
				n := s.Notices()
				if len(n) != 1 || !n[0].Failed {
					t.Fatalf("%s: notices %+v", transport, n)
				}
				if strings.Contains(n[0].Text, "SEKRET") {
					t.Errorf("%s: the notice shows a secret: %s", transport, n[0].Text)
				}
				if transport == HTTP && !strings.Contains(n[0].Text, c.want) {
					t.Errorf("the notice is %q, without %q", n[0].Text, c.want)
				}
			}
		})
	}
}

// tokens is a login whose token is itself (auth.OAuthHandler).
type tokens string

func (k tokens) TokenSource(context.Context) (oauth2.TokenSource, error) {
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: string(k)}), nil
}

func (tokens) Authorize(context.Context, *http.Request, *http.Response) error {
	return errors.New("nobody is here")
}

// TestWebLogin: the tokens of a login are sent; where they are not good any more
// the notice names the command.
func TestWebLogin(t *testing.T) {
	for token, want := range map[string]string{
		"SEKRET-TOKEN": "",
		"old":          "it wants credentials, or others (401 Unauthorized); run grapnel mcp login web, or set headers",
	} {
		server := site(t, HTTP, guarded(mcptest.HTTP(mcptest.New())))
		server.Secrets = nil
		server.Login = func(context.Context) (auth.OAuthHandler, error) { return tokens(token), nil }
		s := opened(t, server)
		said := ""
		for _, n := range s.Notices() {
			said += n.Text
		}
		if (lookup(s, "web__echo") != nil) != (want == "") || !strings.Contains(said, want) {
			t.Errorf("with token %q: %q", token, said)
		}
	}
}

func TestWebRefusesAddresses(t *testing.T) {
	for _, address := range []string{"", "/mcp", "file:///etc/passwd", "ftp://127.0.0.1/", "http://", "::"} {
		s := opened(t, Server{Name: "web", Transport: HTTP, URL: address})
		if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0].Text, "no http or https address") {
			t.Errorf("%q: %+v", address, n)
		}
	}
}
