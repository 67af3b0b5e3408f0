package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// realm is an MCP server that wants a login, and its authorization server.
type realm struct {
	*httptest.Server
	mu      sync.Mutex
	tokens  int  // given out
	seconds int  // that one lives
	deny    bool // whoever logs in
}

func newRealm(t *testing.T) *realm {
	t.Helper()
	r := &realm{seconds: 3600}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *realm) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	send := func(v map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	switch q.URL.Path {
	case "/mcp":
		if q.Header.Get("Authorization") != fmt.Sprintf("Bearer access-token-%d", r.tokens) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", r.URL+"/.well-known/oauth-protected-resource"))
			w.WriteHeader(http.StatusUnauthorized)
		}
	case "/open":
	case "/.well-known/oauth-protected-resource":
		send(map[string]any{"resource": r.URL + "/mcp", "authorization_servers": []string{r.URL}})
	case "/.well-known/oauth-authorization-server":
		send(map[string]any{
			"issuer": r.URL, "authorization_endpoint": r.URL + "/authorize", "token_endpoint": r.URL + "/token",
			"registration_endpoint": r.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		})
	case "/register":
		var in map[string]any
		_ = json.NewDecoder(q.Body).Decode(&in)
		in["client_id"] = "client-7"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in)
	case "/authorize":
		back := url.Values{"state": {q.FormValue("state")}, "code": {"code-1"}}
		if r.deny {
			back = url.Values{"state": {q.FormValue("state")}, "error": {"access_denied"}}
		}
		http.Redirect(w, q, q.FormValue("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		good := q.FormValue("grant_type") == "authorization_code" && q.FormValue("code") == "code-1" && q.FormValue("code_verifier") != "" ||
			q.FormValue("grant_type") == "refresh_token" && q.FormValue("refresh_token") == fmt.Sprintf("refresh-token-%d", r.tokens)
		if !good {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		r.tokens++
		send(map[string]any{
			"access_token": fmt.Sprintf("access-token-%d", r.tokens), "refresh_token": fmt.Sprintf("refresh-token-%d", r.tokens),
			"token_type": "Bearer", "expires_in": r.seconds,
		})
	default:
		http.NotFound(w, q)
	}
}

// browse does what a browser does.
func browse(t *testing.T) func(string) {
	return func(address string) {
		go func() {
			resp, err := http.Get(address)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if page, _ := io.ReadAll(resp.Body); !strings.Contains(string(page), "can be closed") {
				t.Errorf("the browser ends at %s", page)
			}
		}()
	}
}

func newStore(t *testing.T) Store {
	dir := t.TempDir()
	return Store{Dir: dir, KeyFile: filepath.Join(dir, "age.key")}
}

// token returns the access token a session would use.
func token(t *testing.T, s Store, name, url string) (string, error) {
	t.Helper()
	h, err := s.Handler(t.Context(), name, url)
	if err != nil || h == nil {
		return "", err
	}
	source, err := h.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tok, err := source.Token()
	if err != nil {
		return "", err
	}
	return tok.AccessToken, nil
}

func TestLogIn(t *testing.T) {
	r, s := newRealm(t), newStore(t)
	if err := s.LogIn(t.Context(), "web", r.URL+"/mcp", browse(t)); err != nil {
		t.Fatal(err)
	}
	if got, err := token(t, s, "web", r.URL+"/mcp"); got != "access-token-1" || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	if got, _ := token(t, s, "web", r.URL+"/other"); got != "" {
		t.Errorf("the token is for another server: %q", got)
	}
	if got, _ := token(t, s, "other", r.URL+"/mcp"); got != "" {
		t.Errorf("the token is for another name: %q", got)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), "token-1") {
			t.Errorf("%s holds a token: %v", name, err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", name, err)
		}
	}
	if was, err := s.Forget("web"); !was || err != nil {
		t.Errorf("forgotten: %v, %v", was, err)
	}
	if got, err := token(t, s, "web", r.URL+"/mcp"); got != "" || err != nil {
		t.Errorf("after that: %q, %v", got, err)
	}
}

// TestRenew: a token that ran out is renewed once, also for the next session.
func TestRenew(t *testing.T) {
	r, s := newRealm(t), newStore(t)
	r.seconds = 1 // counts as run out already
	if err := s.LogIn(t.Context(), "web", r.URL+"/mcp", browse(t)); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.seconds = 3600
	r.mu.Unlock()
	for range 2 {
		if got, err := token(t, s, "web", r.URL+"/mcp"); got != "access-token-2" || err != nil {
			t.Errorf("token %q, %v", got, err)
		}
	}
}

// TestRenewTogether: sessions that find a token run out at the same moment renew
// it once. The server takes a refresh token only once.
func TestRenewTogether(t *testing.T) {
	r, s := newRealm(t), newStore(t)
	r.seconds = 1
	if err := s.LogIn(t.Context(), "web", r.URL+"/mcp", browse(t)); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.seconds = 3600
	r.mu.Unlock()
	var sessions sync.WaitGroup
	for range 8 {
		sessions.Go(func() {
			if got, err := token(t, s, "web", r.URL+"/mcp"); got != "access-token-2" || err != nil {
				t.Errorf("token %q, %v", got, err)
			}
		})
	}
	sessions.Wait()
}

func TestLogInFails(t *testing.T) {
	r, s := newRealm(t), newStore(t)
	if err := s.LogIn(t.Context(), "web", r.URL+"/open", browse(t)); !errors.Is(err, ErrNotWanted) {
		t.Errorf("a server without login: %v", err)
	}
	r.deny = true
	if err := s.LogIn(t.Context(), "web", r.URL+"/mcp", browse(t)); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("denied: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.LogIn(ctx, "web", r.URL+"/mcp", func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := os.WriteFile(s.file("web"), []byte("age:garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Handler(t.Context(), "web", r.URL+"/mcp"); err == nil {
		t.Error("a damaged login is none")
	}
}
