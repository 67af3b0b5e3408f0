package endpoint_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

const official = "https://api.example.com/v1"

func newEndpoint(t testing.TB, cfg endpoint.Config) *endpoint.Endpoint {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "p"
	}
	e, err := endpoint.New(cfg, official)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func key(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func TestBaseURL(t *testing.T) {
	for _, bad := range []string{"localhost:8080", "ftp://x", "http://", "://", "api.example.com/v1"} {
		if _, err := endpoint.New(endpoint.Config{Name: "p", BaseURL: bad}, official); err == nil {
			t.Errorf("base URL %q was accepted", bad)
		}
	}
	for in, want := range map[string]string{
		"":                          official,
		"http://127.0.0.1:11434":    "http://127.0.0.1:11434/v1",
		"http://127.0.0.1:11434/":   "http://127.0.0.1:11434/v1",
		"https://x.example/api/v4/": "https://x.example/api/v4",
	} {
		e := newEndpoint(t, endpoint.Config{BaseURL: in})
		e.DefaultPath("/v1")
		if e.BaseURL != want {
			t.Errorf("base URL %q became %q, want %q", in, e.BaseURL, want)
		}
	}
}

func TestWireNamesTheServer(t *testing.T) {
	if got := newEndpoint(t, endpoint.Config{}).Wire("openai"); got != "openai" {
		t.Errorf("official wire = %q", got)
	}
	if got := newEndpoint(t, endpoint.Config{BaseURL: "http://10.0.0.1:8000/v1"}).Wire("openai"); got != "openai@10.0.0.1:8000" {
		t.Errorf("other wire = %q", got)
	}
}

func TestKey(t *testing.T) {
	tests := []struct {
		name string
		cfg  endpoint.Config
		want string
		ok   bool
	}{
		{"given", endpoint.Config{APIKey: key(" k\n")}, "k", true},
		{"none", endpoint.Config{}, "", false},
		{"empty", endpoint.Config{APIKey: key("")}, "", false},
		{"header instead", endpoint.Config{Headers: map[string]string{"authorization": "Bearer x"}}, "", true},
		{"local server", endpoint.Config{BaseURL: "http://127.0.0.1:1"}, "", true},
		{"unreadable", endpoint.Config{APIKey: func() (string, error) { return "", errors.New("no file") }}, "", false},
		{"two lines", endpoint.Config{APIKey: key("a\nb")}, "a\nb", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newEndpoint(t, tt.cfg).Key()
			if (err == nil) != tt.ok || tt.ok && got != tt.want {
				t.Errorf("key %q, error %v", got, err)
			}
			if err != nil && model.KindOf(err) != model.ErrAuth {
				t.Errorf("error %v is not an auth error", err)
			}
		})
	}
}

func TestParseDetail(t *testing.T) {
	tests := []struct {
		body string
		want endpoint.Detail
	}{
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, endpoint.Detail{Type: "overloaded_error", Message: "Overloaded"}},
		{`{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, endpoint.Detail{Type: "t", Code: "c", Message: "m", Param: "p"}},
		{`{"error":{"message":"m","code":429,"param":null}}`, endpoint.Detail{Code: "429", Message: "m"}},
		{`{"error":"model not found"}`, endpoint.Detail{Message: "model not found"}},
		{`[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`, endpoint.Detail{Code: "400", Message: "m"}},
		{`{"detail":"Not Found"}`, endpoint.Detail{Message: "Not Found"}},
		{`{"detail":[{"loc":["body"],"msg":"extra"}]}`, endpoint.Detail{Message: `[{"loc":["body"],"msg":"extra"}]`}},
		{`{"message":"m","type":"x"}`, endpoint.Detail{Type: "x", Message: "m"}},
		{"upstream timed out\n", endpoint.Detail{Message: "upstream timed out"}},
		{"<html><body>502</body></html>", endpoint.Detail{}},
		{"", endpoint.Detail{}},
		{`{"error":`, endpoint.Detail{Message: `{"error":`}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, endpoint.ParseDetail([]byte(tt.body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
	}
}

func FuzzParseDetail(f *testing.F) {
	f.Add([]byte(`{"error":{"error":{"error":"x"}}}`))
	f.Add([]byte(`[[[{"error":1}]]]`))
	e := newEndpoint(f, endpoint.Config{APIKey: key("secret-key")})
	f.Fuzz(func(t *testing.T, b []byte) {
		text := e.Refused(400, nil, endpoint.ParseDetail(b)).Error()
		if strings.Contains(text, "secret-key") || strings.ContainsAny(text, "\n\r\x1b") {
			t.Errorf("error text = %q", text)
		}
	})
}

func TestRefused(t *testing.T) {
	tests := []struct {
		status int
		detail endpoint.Detail
		want   model.ErrorKind
		final  bool
	}{
		{400, endpoint.Detail{Message: "bad"}, model.ErrBadRequest, false},
		{400, endpoint.Detail{Code: "context_length_exceeded"}, model.ErrContextLength, false},
		{400, endpoint.Detail{Message: "prompt is too long: 210000 tokens > 200000 maximum"}, model.ErrContextLength, false},
		{500, endpoint.Detail{Message: "the request exceeds the available context size"}, model.ErrContextLength, false},
		{402, endpoint.Detail{Message: "Insufficient credits"}, model.ErrRateLimit, true},
		{429, endpoint.Detail{Code: "insufficient_quota"}, model.ErrRateLimit, true},
		{429, endpoint.Detail{}, model.ErrRateLimit, false},
		{408, endpoint.Detail{}, model.ErrServer, false},
		{500, endpoint.Detail{Type: "overloaded_error"}, model.ErrOverloaded, false},
		{502, endpoint.Detail{}, model.ErrServer, false},
		{307, endpoint.Detail{}, model.ErrBadRequest, false},
		{0, endpoint.Detail{Type: "overloaded_error"}, model.ErrOverloaded, false},
		{0, endpoint.Detail{Type: "invalid_request_error", Code: "invalid_api_key"}, model.ErrAuth, false},
		{0, endpoint.Detail{Code: "rate_limit_exceeded"}, model.ErrRateLimit, false},
		{0, endpoint.Detail{Code: "server_error"}, model.ErrServer, false},
		{0, endpoint.Detail{Message: "who knows"}, model.ErrUnknown, false},
	}
	e := newEndpoint(t, endpoint.Config{})
	for _, tt := range tests {
		if got := e.Refused(tt.status, nil, tt.detail); got.Kind != tt.want || got.Final != tt.final {
			t.Errorf("%d %+v is %s, final %v", tt.status, tt.detail, got.Kind, got.Final)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"Retry-After: 7":        7 * time.Second,
		"Retry-After: 0.5":      500 * time.Millisecond,
		"Retry-After: -1":       0,
		"Retry-After: soon":     0,
		"Retry-After-Ms: 250":   250 * time.Millisecond,
		"Retry-After: NaN":      0,
		"Retry-After: 99999999": 0,
	} {
		name, value, _ := strings.Cut(header, ": ")
		h := http.Header{}
		h.Set(name, value)
		if got := newEndpoint(t, endpoint.Config{}).Refused(429, h, endpoint.Detail{}).RetryAfter; got != want {
			t.Errorf("%s gives %s, want %s", header, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := http.Header{"Retry-After": {time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)}}
		if got := newEndpoint(t, endpoint.Config{}).Refused(429, h, endpoint.Detail{}).RetryAfter; got != 30*time.Second {
			t.Errorf("a date gives %s", got)
		}
	})
}

func TestMessagesAreFitForPeople(t *testing.T) {
	e := newEndpoint(t, endpoint.Config{APIKey: key("sk-123456")})
	got := e.Refused(401, nil, endpoint.Detail{Message: "Incorrect key sk-123456\x1b[31m\n given \u202e" + strings.Repeat("é", 1000)}).Message
	if !strings.HasPrefix(got, "Incorrect key [key] [31m given ééé") || len([]rune(got)) > 401 {
		t.Errorf("message = %q", got)
	}
}

// TestFailed checks the names of failures that are no answer of the server.
func TestFailed(t *testing.T) {
	e := newEndpoint(t, endpoint.Config{})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	inURL := &url.Error{Op: "Post", URL: "http://user:pw@h/", Err: io.ErrUnexpectedEOF}
	tests := []struct {
		name   string
		caller context.Context
		err    error
		began  bool
		want   model.ErrorKind
	}{
		{"before the answer", t.Context(), inURL, false, model.ErrNetwork},
		{"in the answer", t.Context(), io.ErrUnexpectedEOF, true, model.ErrTruncated},
		{"cancelled", gone, inURL, true, model.ErrCanceled},
		{"known", t.Context(), &model.Error{Kind: model.ErrAuth}, true, model.ErrAuth},
	}
	for _, tt := range tests {
		err := e.Failed(tt.caller, tt.caller, tt.err, tt.began)
		if model.KindOf(err) != tt.want || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if err := e.Failed(gone, gone, inURL, false); !errors.Is(err, context.Canceled) {
		t.Errorf("cancel gives %v", err)
	}
}

// TestSilentServer lets the time pass without a header, and without bytes.
func TestSilentServer(t *testing.T) {
	tests := []struct {
		name string
		act  func(context.Context, *endpoint.Guard)
		want time.Duration
	}{
		{"no header", func(ctx context.Context, _ *endpoint.Guard) { <-ctx.Done() }, 10 * time.Minute},
		{"no bytes", func(ctx context.Context, g *endpoint.Guard) {
			time.Sleep(time.Minute)
			body := g.Body(readerFunc(func([]byte) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}))
			_, _ = body.Read(nil)
		}, 6 * time.Minute},
		{"slow reader", func(ctx context.Context, g *endpoint.Guard) {
			body := g.Body(readerFunc(func([]byte) (int, error) { return 1, nil }))
			for range 3 {
				_, _ = body.Read(nil)
				time.Sleep(time.Hour) // what we do between reads is not the server's silence
			}
			if ctx.Err() != nil {
				panic("the guard counted our own time")
			}
			g.Stop()
			<-ctx.Done()
		}, 3 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEndpoint(t, endpoint.Config{BaseURL: "http://h"})
				ctx, guard := e.Watch(t.Context())
				defer guard.Stop()
				began := time.Now()
				tt.act(ctx, guard)
				if got := time.Since(began); got != tt.want {
					t.Errorf("ended after %s, want %s", got, tt.want)
				}
				err := e.Failed(t.Context(), ctx, ctx.Err(), true)
				if tt.name != "slow reader" && (model.KindOf(err) != model.ErrNetwork || !strings.Contains(err.Error(), "sent nothing for")) {
					t.Errorf("error = %v", err)
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestRedirectsStayAtHome checks that a key is not carried to another host.
func TestRedirectsStayAtHome(t *testing.T) {
	carried := make(chan string, 1)
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { carried <- r.Header.Get("X-Api-Key") }))
	defer away.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, away.URL, http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		}
	}))
	defer home.Close()
	client := endpoint.NewClient()
	defer client.CloseIdleConnections()
	for path, ok := range map[string]bool{"/away": false, "/here": true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, home.URL+path, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "k")
		resp, err := client.Do(req)
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil {
			resp.Body.Close()
		}
	}
	select {
	case <-carried:
		t.Error("the other host was asked")
	default:
	}
}

func TestCallIDs(t *testing.T) {
	var ids endpoint.CallIDs
	got := []string{
		ids.Call("a"), ids.Result("a"), ids.Call("a"), ids.Result("a"),
		ids.Call("a-2"), ids.Call(""), ids.Result(""), ids.Call("functions.x:0"), ids.Result("never called"),
	}
	want := []string{"a", "a", "a-2", "a-2", "a-2-2", "call", "call", "functions_x_0", "never_called"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestResultText(t *testing.T) {
	text := []model.Part{model.Text("out")}
	for _, tt := range []struct {
		r    model.ToolResult
		want string
	}{
		{model.ToolResult{Parts: text}, "out"},
		{model.ToolResult{Parts: text, IsError: true}, "Error: out"},
		{model.ToolResult{}, "(no output)"},
		{model.ToolResult{IsError: true}, "Error: the tool failed."},
	} {
		if got := endpoint.ResultText(&tt.r); got != tt.want {
			t.Errorf("ResultText(%+v) = %q, want %q", tt.r, got, tt.want)
		}
	}
}
