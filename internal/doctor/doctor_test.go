package doctor

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// expect checks the worst finding and what it says.
func expect(t *testing.T, found []Finding, status Status, says string) {
	t.Helper()
	worst := Finding{Status: OK}
	rank := map[Status]int{OK: 0, Skip: 1, Warn: 2, Fail: 3}
	text := ""
	for _, f := range found {
		if f.Message == "" || f.Check == "" || (f.Status == Fail) && f.Fix == "" {
			t.Errorf("incomplete: %+v", f)
		}
		if rank[f.Status] >= rank[worst.Status] {
			worst = f
		}
		text += f.Message + "\n"
	}
	if worst.Status != status || !strings.Contains(text, says) {
		t.Errorf("found %+v, want %s and %q", found, status, says)
	}
	if Failed(found) != (status == Fail) {
		t.Errorf("Failed is %v with %s", Failed(found), status)
	}
}

func TestConfig(t *testing.T) {
	home := config.Home(t.TempDir())
	expect(t, Config(home, nil), OK, "defaults apply")
	if err := os.WriteFile(home.File(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, Config(home, nil), OK, "is valid")
	expect(t, Config(home, []config.Problem{{File: "f", Line: 3, Column: 4, Message: "odd", Warning: true}}), Warn, "f:3:4: odd")
	found := Config(home, []config.Problem{{Var: "GRAPNEL_x", Message: "bad"}, {File: "f", Message: "odd", Warning: true}})
	expect(t, found, Fail, "GRAPNEL_x: bad")
	if !strings.Contains(found[0].Fix, "unset GRAPNEL_x") {
		t.Errorf("the fix is %q", found[0].Fix)
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	expect(t, Home(dir), OK, "is writable")
	expect(t, Home(filepath.Join(dir, "a", "b")), OK, "made when needed")
	if runtime.GOOS != "windows" {
		if err := os.Chmod(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		expect(t, Home(dir), Warn, "0750")
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, []Finding{Directory("x", file)}, Fail, "is a file")
	expect(t, []Finding{Directory("x", filepath.Join(file, "below"))}, Fail, "file")
	expect(t, []Finding{Disk(filepath.Join(dir, "not", "there"))}, OK, "MiB are free")
	if os.Getuid() > 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		expect(t, []Finding{Directory("x", dir)}, Fail, "cannot be written")
		expect(t, []Finding{Directory("x", filepath.Join(dir, "new"))}, Fail, "cannot be made")
		_ = os.Chmod(dir, 0o700)
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data", "sessions.db")
	peers := instance.Observe(filepath.Join(dir, "run"))
	look := func() []Finding { return Store(t.Context(), path, peers) }
	expect(t, look(), OK, "made with the first session")
	inst, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	l, err := sqlite.Open(t.Context(), path, inst)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"s_1", "s_2"} {
		if _, err := l.Create(t.Context(), session.Info{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, look(), OK, "version 3, 2 sessions")
	expect(t, []Finding{Instances(peers)}, OK, "shared with 1 running")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	inst.Close()
	expect(t, []Finding{Instances(peers)}, OK, "no other grapnel")
	expect(t, look(), OK, "2 sessions")
	junk := []byte(strings.Repeat("junk ", 2000))
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, look(), Fail, "is damaged")
	if now, err := os.ReadFile(path); err != nil || string(now) != string(junk) {
		t.Error("the damaged store was touched")
	}
}

func TestCustody(t *testing.T) {
	expect(t, []Finding{Custody(t.Context())}, OK, "end together")
	t.Setenv("PATH", "")
	expect(t, []Finding{Custody(t.Context())}, Fail, "could not be run")
	expect(t, []Finding{Shell()}, Fail, "no sh")
	expect(t, []Finding{Git()}, Warn, "no git")
}

func TestAgents(t *testing.T) {
	expect(t, []Finding{Default("main", nil)}, OK, "main")
	expect(t, []Finding{Default("", errors.New("several"))}, Warn, "several")
	expect(t, []Finding{External("codex")}, Warn, "codex")
	expect(t, []Finding{Provider("main", config.ProviderChoice{}, config.ErrNoCredentials)}, Fail, "no credentials")
	for found, says := range map[string]string{"": "as configured", "OPENAI_API_KEY": "because OPENAI_API_KEY is set", "127.0.0.1:11434": "a server answers"} {
		expect(t, []Finding{Provider("main", config.ProviderChoice{Name: "p", Model: "m", Found: found}, nil)}, OK, says)
	}
	p := config.ProviderChoice{Name: "p", APIKey: secret.NewRef("sk-very-secret")}
	expect(t, []Finding{Credentials(p, nil)}, OK, "in place")
	if f := Credentials(p, nil); strings.Contains(f.Message, "very") {
		t.Errorf("the key is shown: %s", f.Message)
	}
	expect(t, []Finding{Credentials(config.ProviderChoice{Name: "p"}, nil)}, OK, "without a key")
	expect(t, []Finding{Credentials(p, config.ErrNoCredentials)}, Fail, "no credentials")
}

const key = "sk-very-secret"

func TestReach(t *testing.T) {
	const models = `{"data":[{"id":"models/gem"},{"id":"qwen3:8b"},{"id":"exact"}]}`
	for _, c := range []struct {
		name   string
		kind   string
		path   string // of base_url
		model  string
		answer func(w http.ResponseWriter, r *http.Request)
		asked  string // the path that is to be asked
		status Status
		says   string
	}{
		{"model listed", config.KindChat, "/v1", "exact", answer(200, models), "/v1/models", OK, "has exact"},
		{"model with a prefix", config.KindChat, "/v1/", "gem", answer(200, models), "/v1/models", OK, "has gem"},
		{"model with a tag", config.KindChat, "", "qwen3", answer(200, models), "/v1/models", OK, "has qwen3"},
		{"model not listed", config.KindOpenAI, "/v1", "other", answer(200, models), "/v1/models", Warn, "does not list the model other among its 3"},
		{"more pages", config.KindAnthropic, "", "other", answer(200, `{"data":[{"id":"a"}],"has_more":true}`), "/v1/models", OK, "answers"},
		{"anthropic with /v1", config.KindAnthropic, "/v1", "a", answer(200, `{"data":[{"id":"a"}]}`), "/v1/models", OK, "has a"},
		{"no JSON", config.KindChat, "/v1", "m", answer(200, "<html>"), "/v1/models", OK, "answers"},
		{"key refused", config.KindChat, "/v1", "m", answer(401, ""), "/v1/models", Fail, "refuses the key"},
		{"no such page", config.KindChat, "/api", "m", answer(404, ""), "/api/models", OK, "lists no models"},
		{"too many", config.KindChat, "/v1", "m", answer(429, ""), "/v1/models", Warn, "429"},
		{"broken", config.KindChat, "/v1", "m", answer(502, ""), "/v1/models", Warn, "502"},
		{"odd", config.KindChat, "/v1", "m", answer(418, ""), "/v1/models", Warn, "418"},
		{"moved elsewhere", config.KindChat, "/v1", "m", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, "/v1/models", Fail, "redirects to 192.0.2.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := ""
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				if got := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key"); !strings.HasSuffix(got, key) || r.Header.Get("X-More") != "more" {
					t.Errorf("sent with %v", r.Header)
				}
				c.answer(w, r)
			}))
			defer s.Close()
			p := config.ProviderChoice{Name: "p", Kind: c.kind, BaseURL: s.URL + c.path, Model: c.model}
			f := Reach(t.Context(), endpoint.NewClient(), p, config.Credentials{APIKey: key, Headers: map[string]string{"X-More": "more"}})
			expect(t, []Finding{f}, c.status, c.says)
			if asked != c.asked {
				t.Errorf("asked %s, want %s", asked, c.asked)
			}
		})
	}
}

func answer(code int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestReachNobody(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	p := config.ProviderChoice{Name: "p", Kind: config.KindChat, BaseURL: "http://user:" + key + "@" + host + "/v1"}
	f := Reach(t.Context(), endpoint.NewClient(), p, config.Credentials{APIKey: key})
	expect(t, []Finding{f}, Fail, "does not answer at "+host)
	if strings.Contains(f.Message, key) {
		t.Errorf("the key is shown: %s", f.Message)
	}
	p.BaseURL = "http://%zz"
	expect(t, []Finding{Reach(t.Context(), endpoint.NewClient(), p, config.Credentials{})}, Fail, "not usable")
	p.Kind = config.KindDemo
	expect(t, []Finding{Reach(t.Context(), nil, p, config.Credentials{})}, OK, "needs no network")
}

// TestReachSilence: a server that takes the request and says nothing.
func TestReachSilence(t *testing.T) {
	hold := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer s.Close()
	defer close(hold)
	p := config.ProviderChoice{Name: "p", Kind: config.KindChat, BaseURL: s.URL}
	expect(t, []Finding{reach(t.Context(), endpoint.NewClient(), p, config.Credentials{}, 50*time.Millisecond)}, Fail, "no answer in 50ms")
}
