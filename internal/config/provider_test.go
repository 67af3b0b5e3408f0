package config

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/secret"
)

// environment is Sources with the given variables and a local server that
// offers localModel, if any.
func environment(localModel string, vars ...string) Sources {
	values := map[string]string{}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return Sources{
		Getenv: func(name string) string { return values[name] },
		Probe:  func(context.Context, string) (string, bool) { return localModel, localModel != "" },
	}
}

func TestProviderFor(t *testing.T) {
	tests := []struct {
		name, config, model string
		vars                []string
		want                string // kind, address, model, key, found
	}{
		{"first variable", "", "llama", []string{"OPENAI_API_KEY=o", "ANTHROPIC_API_KEY=a"}, "anthropic https://api.anthropic.com claude-sonnet-4-6 env:ANTHROPIC_API_KEY ANTHROPIC_API_KEY"},
		{"second", "", "llama", []string{"ANTHROPIC_API_KEY= ", "OPENAI_API_KEY=o", "GEMINI_API_KEY=g"}, "openai https://api.openai.com/v1 gpt-5.4 env:OPENAI_API_KEY OPENAI_API_KEY"},
		{"third", "", "", []string{"GEMINI_API_KEY=g", "OPENROUTER_API_KEY=r"}, "openai-chat https://generativelanguage.googleapis.com/v1beta/openai gemini-2.5-pro env:GEMINI_API_KEY GEMINI_API_KEY"},
		{"fourth", "", "llama", []string{"OPENROUTER_API_KEY=r"}, "openai-chat https://openrouter.ai/api/v1 openrouter/auto env:OPENROUTER_API_KEY OPENROUTER_API_KEY"},
		{"local server", "", "llama", nil, "openai-chat http://127.0.0.1:11434/v1 llama  127.0.0.1:11434"},
		{"moved address", "", "", []string{"ANTHROPIC_API_KEY=a", "ANTHROPIC_BASE_URL=http://127.0.0.1:9"}, "anthropic http://127.0.0.1:9 claude-sonnet-4-6 env:ANTHROPIC_API_KEY ANTHROPIC_API_KEY"},
		{"model of the agent", "[agents.main]\nmodel = 'm'\n", "", []string{"OPENAI_API_KEY=o"}, "openai https://api.openai.com/v1 m env:OPENAI_API_KEY OPENAI_API_KEY"},
		{"only provider", "[providers.x]\nkind = 'anthropic'\napi_key = 'file:k'\nmodel = 'p'\n", "", []string{"OPENAI_API_KEY=o"}, "anthropic https://api.anthropic.com p file:k "},
		{"agent's provider and model", "[providers.x]\nkind = 'anthropic'\nmodel = 'p'\n[providers.groq]\n[agents.main]\nprovider = 'x'\nmodel = 'm'\n", "", nil, "anthropic https://api.anthropic.com m env:ANTHROPIC_API_KEY "},
		{"built-in kind", "agents.main.provider = 'demo'\n", "", nil, "demo  demo  "},
		{"preset by name", "[providers.groq]\nkind = 'openai-chat'\n", "", nil, "openai-chat https://api.groq.com/openai/v1 openai/gpt-oss-120b env:GROQ_API_KEY "},
		{"preset by kind", "[providers.x]\nkind = 'ollama'\n", "llama", nil, "openai-chat http://127.0.0.1:11434/v1 llama  "},
		{"name does not decide against the kind", "[providers.anthropic]\nkind = 'openai'\n", "", nil, "openai https://api.openai.com/v1 gpt-5.4 env:OPENAI_API_KEY "},
		{"key stays with its server", "[providers.xai]\nbase_url = 'http://other/v1'\n", "", nil, "openai-chat http://other/v1 grok-4  "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := mustLoad(t, tt.config)
			got, err := c.ProviderFor(t.Context(), "main", environment(tt.model, tt.vars...))
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%s %s %s %s %s", got.Kind, got.BaseURL, got.Model, got.APIKey, got.Found)
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("choice (-want +got):\n%s", diff)
			}
			if got.ContextWindow <= 0 {
				t.Errorf("context window %d", got.ContextWindow)
			}
		})
	}
}

func TestProviderForErrors(t *testing.T) {
	tests := []struct {
		name, config, want string
		credentials        bool
	}{
		{"nothing", "", "no credentials: no model provider is configured; run grapnel setup, or set ANTHROPIC_API_KEY", true},
		{"several", "[providers.groq]\n[providers.xai]\n", "the agent names no provider and there are several (groq, xai)", false},
		{"no model", "[providers.ollama]\n", "provider ollama names no model, and its server at http://127.0.0.1:11434/v1 does not answer or has none; start it, or set providers.ollama.model", false},
		{"no address", "[providers.x]\nkind = 'openai-chat'\nmodel = 'm'\n", "provider x has no address; set providers.x.base_url", false},
		{"no kind", "[providers.x]\nmodel = 'm'\n", `provider "x" has no kind; set providers.x.kind`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := mustLoad(t, tt.config).ProviderFor(t.Context(), "main", environment(""))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || errors.Is(err, ErrNoCredentials) != tt.credentials {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// U3: a key put in place after start-up is found without a restart.
func TestU3CredentialsAreLookedUpAnew(t *testing.T) {
	home := write(t, "[providers.x]\nkind = 'anthropic'\napi_key = 'file:key'\nheaders = { X = 'env:EXTRA', Y = 'plain' }\n")
	c, err := Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	src := Sources{Getenv: func(name string) string { return vars[name] }}
	choice, err := c.ProviderFor(t.Context(), "main", src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = choice.Credentials(t.Context(), src); !errors.Is(err, ErrNoCredentials) || !strings.Contains(err.Error(), "api_key of provider x: secret file") {
		t.Fatalf("error %v, want ErrNoCredentials naming the key", err)
	}
	if err := os.WriteFile(strings.TrimSuffix(home.File(), "config.toml")+"key", []byte("k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = choice.Credentials(t.Context(), src); !errors.Is(err, ErrNoCredentials) || !strings.Contains(err.Error(), "header X") {
		t.Fatalf("error %v, want ErrNoCredentials naming the header", err)
	}
	vars["EXTRA"] = "e"
	got, err := choice.Credentials(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"X": "e", "Y": "plain"}
	if diff := cmp.Diff(want, got.Headers); diff != "" || got.APIKey != "k" {
		t.Errorf("key %q, headers (-want +got):\n%s", got.APIKey, diff)
	}
	if s := fmt.Sprintf("%v %+v %#v", got, got, got); s != strings.Repeat(" "+secret.Redacted, 3)[1:] {
		t.Errorf("credentials print as %s", s)
	}
}

func TestProbeModels(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" || answer == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	tests := []struct {
		answer, model string
		ok            bool
	}{
		{`{"object":"list","data":[{"id":"llama","object":"model"},{"id":"other"}]}`, "llama", true},
		{`{"data":[]}`, "", false},
		{`<html>`, "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		answer = tt.answer
		if model, ok := ProbeModels(t.Context(), server.URL+"/v1/"); model != tt.model || ok != tt.ok {
			t.Errorf("answer %s gives %q, %v, want %q, %v", tt.answer, model, ok, tt.model, tt.ok)
		}
	}
	if _, ok := ProbeModels(t.Context(), "http://127.0.0.1:1/v1"); ok {
		t.Error("a closed port is taken for a server")
	}
}
